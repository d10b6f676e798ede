/** What can be taken away of a result: copied as a table, or saved as a file that holds all of its rows. */
import { useState } from "react";
import { download, get } from "../api/client";
import { rowsPath } from "../api/queries";
import type { ExportFormat, RunRows } from "../api/types";
import { Button } from "../shell/Button";
import { copyText } from "../shell/copyText";
import { useDismiss } from "../shell/useDismiss";
import { useToast } from "../shell/useToast";
import { asTabbed } from "./asTabbed";
import type { Result } from "./results";
import css from "./ExportMenu.module.css";

const FORMATS: readonly { format: ExportFormat; name: string }[] = [
  { format: "csv", name: "CSV" },
  { format: "xlsx", name: "Excel (XLSX)" },
  { format: "parquet", name: "Parquet" },
  { format: "jsonl", name: "JSON lines" },
];

/** More rows than this don't belong on a clipboard. */
const MOST_COPIED = 1000;

export function ExportMenu({ result, name }: { result: Result; name: string }) {
  const [open, setOpen] = useState(false);
  const [said, say] = useToast();
  const box = useDismiss<HTMLDivElement>(open, () => setOpen(false));
  const runId = result.runId ?? "";

  async function copy() {
    const all = result.rows.length >= Math.min(result.total, MOST_COPIED);
    const request = { runId, task: result.task, sort: null, filters: [] };
    const rows = all ? result.rows : (await get<RunRows>(rowsPath(request, 0, MOST_COPIED))).rows;
    await copyText(asTabbed(result.columns, rows));
    say(rows.length < result.total ? `First ${rows.length.toLocaleString("en")} rows copied` : "Table copied");
  }

  async function save(format: ExportFormat) {
    setOpen(false);
    const task = result.task ? `&task=${encodeURIComponent(result.task)}` : "";
    await download(`/runs/${encodeURIComponent(runId)}/export?format=${format}${task}`, `${fileName(name)}.${format}`);
    say("Saved");
  }

  const attempt = (action: Promise<void>) => void action.catch((error: Error) => say(error.message));
  return (
    <div className={css["box"]} ref={box}>
      <span role="status" className={css["said"]}>
        {said}
      </span>
      <Button compact icon="copy" onClick={() => attempt(copy())}>
        Copy
      </Button>
      <Button compact icon="download" aria-expanded={open} aria-haspopup="true" onClick={() => setOpen(!open)}>
        Save
      </Button>
      {open && (
        <ul className={css["menu"]}>
          {FORMATS.map(({ format, name }) => (
            <li key={format}>
              <button type="button" className={css["item"]} onClick={() => attempt(save(format))}>
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function fileName(question: string): string {
  const name = question
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "");
  return name.slice(0, 60) || "result";
}
