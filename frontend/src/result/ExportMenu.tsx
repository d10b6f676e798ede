/** What can be taken away of a result: copied as a table, or saved as a file that holds all of its rows. */
import { useQuery } from "@tanstack/react-query";
import { download, get } from "../api/client";
import { healthQuery, rowsPath } from "../api/queries";
import type { ExportFormat, RunRows } from "../api/types";
import { Button } from "../shell/Button";
import { copyText } from "../shell/copyText";
import { fileName } from "../shell/fileName";
import { Menu } from "../shell/Menu";
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
  const [said, say] = useToast();
  const health = useQuery(healthQuery);
  const runId = result.runId ?? "";

  async function copy() {
    const all = result.rows.length >= Math.min(result.total, MOST_COPIED);
    const request = { runId, task: result.task, sort: null, filters: [] };
    const rows = all ? result.rows : (await get<RunRows>(rowsPath(request, 0, MOST_COPIED))).rows;
    await copyText(asTabbed(result.columns, rows));
    say(rows.length < result.total ? `First ${rows.length.toLocaleString("en")} rows copied` : "Table copied");
  }

  async function save(format: ExportFormat) {
    const task = result.task ? `&task=${encodeURIComponent(result.task)}` : "";
    await download(`/runs/${encodeURIComponent(runId)}/export?format=${format}&bom=true${task}`, `${fileName(name)}.${format}`);
    say("Saved");
  }

  const attempt = (action: Promise<void>) => void action.catch((error: Error) => say(error.message));
  return (
    <div className={css["box"]}>
      <span role="status" className={css["said"]}>
        {said}
      </span>
      <Button compact icon="copy" onClick={() => attempt(copy())}>
        Copy
      </Button>
      <Menu
        compact
        icon="download"
        label="Save"
        items={FORMATS.filter(({ format }) => format !== "parquet" || health.data?.parquet).map(({ format, name }) => ({ name, run: () => attempt(save(format)) }))}
      />
    </div>
  );
}
