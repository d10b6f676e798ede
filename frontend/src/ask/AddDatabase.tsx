/** Brings a database of one's own: by its URL, or as a file. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { post } from "../api/client";
import { presetsQuery } from "../api/queries";
import type { Preset } from "../api/types";
import { Button } from "../shell/Button";
import css from "../shell/Dialog.module.css";
import { type Progress, shown, uploadFiles } from "./uploadFiles";

interface Props {
  way: "connect" | "upload";
  onClose: () => void;
  onAdded: (preset: Preset) => void;
}

export default function AddDatabase({ way, onClose, onAdded }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const client = useQueryClient();
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [files, setFiles] = useState<File[]>([]);
  const [progress, setProgress] = useState<Progress | null>(null);

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  const adding = useMutation({
    mutationFn: () => (way === "connect" ? connect(url, name) : uploadFiles(files, name, setProgress)),
    onMutate: () => setProgress(null),
    onSuccess: (preset) => {
      client.setQueryData(presetsQuery.queryKey, (all) => [...(all ?? []).filter((p) => p.id !== preset.id), preset]);
      void client.invalidateQueries({ queryKey: presetsQuery.queryKey });
    },
  });
  const hint = useId();
  const ready = way === "connect" ? url.trim() !== "" : files.length > 0;

  function submit(event: FormEvent) {
    event.preventDefault();
    event.stopPropagation(); // the question's form is an ancestor, though only in React's tree
    if (ready && !adding.isPending) adding.mutate(undefined, { onSuccess: onAdded }); // not called once the dialog is closed
  }

  return createPortal(
    <dialog ref={dialog} className={css["dialog"]} onClose={onClose} aria-labelledby="add-title">
      <form className={css["form"]} onSubmit={submit}>
        <h2 id="add-title" className={css["title"]}>
          {way === "connect" ? "Connect a database" : "Upload files"}
        </h2>
        {way === "connect" ? (
          <div>
            <label className={css["field"]}>
              <span>URL</span>
              <input
                value={url}
                onChange={(e) => setUrl(e.target.value)}
                placeholder="postgresql://reader@host:5432/sales"
                autoComplete="off"
                spellCheck={false}
                aria-describedby={hint}
              />
            </label>
            <p id={hint} className={css["hint"]}>
              postgresql or mysql, and files where the server allows them. Only reading is done; an account that can only
              read is still the better one.
            </p>
          </div>
        ) : (
          <div>
            <label className={css["field"]}>
              <span>Files</span>
              <input
                type="file"
                multiple
                onChange={(e) => setFiles([...(e.target.files ?? [])])}
                aria-describedby={hint}
              />
            </label>
            <p id={hint} className={css["hint"]}>
              A SQLite or DuckDB database, or tables as CSV, Excel, JSON lines or Parquet; several files become one database.
            </p>
          </div>
        )}
        <label className={css["field"]}>
          <span>Name, if you like</span>
          <input value={name} onChange={(e) => setName(e.target.value)} autoComplete="off" />
        </label>
        {adding.error && (
          <p className={css["problem"]} role="alert">
            {adding.error.message}
          </p>
        )}
        <div className={css["actions"]}>
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button look="filled" type="submit" disabled={!ready || adding.isPending}>
            {adding.isPending ? shown(progress) : way === "connect" ? "Connect" : "Upload"}
          </Button>
        </div>
      </form>
    </dialog>,
    document.body, // a form cannot stand in another
  );
}

function connect(url: string, name: string): Promise<Preset> {
  return post<Preset>("/databases", { url: url.trim(), ...(name.trim() ? { name: name.trim() } : {}) });
}
