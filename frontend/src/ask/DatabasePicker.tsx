/** Which database to ask; connecting another, uploading a file, and removing what was added. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { remove } from "../api/client";
import { presetsQuery } from "../api/queries";
import type { Preset } from "../api/types";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { counted } from "../shell/counted";
import { useDismiss } from "../shell/useDismiss";
import { useChosenPreset } from "./chosenPreset";
import css from "./DatabasePicker.module.css";

const AddDatabase = lazy(() => import("./AddDatabase"));

const KINDS: Record<Preset["kind"], string> = {
  demo: "demo",
  configured: "configured",
  connected: "connected by you",
  uploaded: "uploaded by you",
};

export function DatabasePicker() {
  const { data: presets = [] } = useQuery(presetsQuery);
  const [chosen, choose] = useChosenPreset();
  const [open, setOpen] = useState(false);
  const [adding, setAdding] = useState<"connect" | "upload" | null>(null);
  const box = useDismiss<HTMLDivElement>(open, () => setOpen(false));
  const client = useQueryClient();
  const removal = useMutation({
    mutationFn: (id: string) => remove(`/databases/${encodeURIComponent(id)}`),
    onSuccess: () => client.invalidateQueries({ queryKey: presetsQuery.queryKey }),
  });

  function pick(id: string) {
    choose(id);
    setOpen(false);
  }

  return (
    <div className={css["picker"]} ref={box}>
      <button
        type="button"
        className={css["current"]}
        aria-expanded={open}
        aria-haspopup="dialog"
        onClick={() => setOpen(!open)}
      >
        <Icon name="database" />
        <span className="hidden-text">Database: </span>
        {chosen?.name ?? "No database"}
        <Icon name="chevron" />
      </button>
      {open && (
        <div className={css["panel"]} role="dialog" aria-label="Choose a database">
          <ul>
            {presets.map((preset) => (
              <li key={preset.id} className={css["row"]}>
                <button
                  type="button"
                  className={css["preset"]}
                  aria-pressed={preset.id === chosen?.id}
                  onClick={() => pick(preset.id)}
                >
                  <span className={css["name"]}>{preset.name}</span>
                  <span className={css["facts"]}>
                    {preset.dialect} · {KINDS[preset.kind]}
                    {preset.tables === null ? "" : ` · ${counted(preset.tables, "table")}`}
                  </span>
                </button>
                {preset.removable && (
                  <IconButton
                    icon="trash"
                    label={`Remove ${preset.name}`}
                    disabled={removal.isPending}
                    onClick={() => removal.mutate(preset.id)}
                  />
                )}
              </li>
            ))}
          </ul>
          {removal.error && <p className={css["problem"]}>{removal.error.message}</p>}
          <div className={css["add"]}>
            <button type="button" className={css["way"]} onClick={() => setAdding("upload")}>
              <Icon name="upload" /> Upload files…
            </button>
            <button type="button" className={css["way"]} onClick={() => setAdding("connect")}>
              <Icon name="link" /> Connect a database…
            </button>
          </div>
        </div>
      )}
      {adding && (
        <Suspense fallback={null}>
          <AddDatabase
            way={adding}
            onClose={() => setAdding(null)}
            onAdded={(preset) => {
              setAdding(null);
              pick(preset.id);
            }}
          />
        </Suspense>
      )}
    </div>
  );
}
