/** Where files are dropped, or chosen, on the first page: they become the database that is asked. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type DragEvent, useRef, useState } from "react";
import { presetsQuery } from "../api/queries";
import { Icon } from "../shell/Icon";
import { choosePreset } from "./chosenPreset";
import css from "./DropZone.module.css";
import { type Progress, shown, uploadFiles } from "./uploadFiles";

export function DropZone() {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const client = useQueryClient();
  const [progress, setProgress] = useState<Progress | null>(null);
  const adding = useMutation({
    mutationFn: (files: File[]) => uploadFiles(files, "", setProgress),
    onMutate: () => setProgress(null),
    onSuccess: (preset) => {
      client.setQueryData(presetsQuery.queryKey, (all) => [...(all ?? []).filter((p) => p.id !== preset.id), preset]);
      choosePreset(preset.id);
    },
  });

  function take(files: FileList | null) {
    if (files && files.length > 0 && !adding.isPending) adding.mutate([...files]);
  }

  function dropped(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files);
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- dropping is the mouse's way; the button is everybody's
    <section
      className={css["zone"]}
      data-over={over || undefined}
      aria-label="Ask your own files"
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      <button type="button" className={css["choose"]} disabled={adding.isPending} onClick={() => input.current?.click()}>
        <Icon name="upload" /> {adding.isPending ? shown(progress) : "Drop a file here, or choose one"}
      </button>
      <span className={css["hint"]}>CSV, Excel, JSON lines, Parquet, SQLite or DuckDB</span>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to ask"
        onChange={(e) => {
          take(e.target.files);
          e.target.value = "";
        }}
      />
      <p role="status" className="hidden-text">
        {adding.isPending ? "Reading it…" : ""}
      </p>
      {adding.error && (
        <p role="alert" className={css["problem"]}>
          {adding.error.message}
        </p>
      )}
    </section>
  );
}
