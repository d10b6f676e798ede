/** The SQL edited by hand and run under the same guard; what comes of it stands below, and can be kept as the answer. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../api/client";
import { schemaQuery } from "../api/queries";
import type { SqlRequest, SqlResult } from "../api/types";
import { ResultView } from "../result/ResultPanel";
import type { RunState } from "../run/state";
import { Button, IconButton } from "../shell/Button";
import { copyText } from "../shell/copyText";
import { runAddress } from "../shell/router";
import { useToast } from "../shell/useToast";
import { useFormatted } from "./format";
import { SqlEditor } from "./SqlEditor";
import { Refusal } from "./Refusal";
import css from "./Workbench.module.css";

interface Props {
  run: RunState;
  sql: string;
  onClose: () => void;
}

export default function Workbench({ run, sql, onClose }: Props) {
  const preset = run.preset ?? "";
  const dialect = run.answer?.dialect ?? run.schema?.dialect ?? "sqlite";
  const schema = useQuery({ ...schemaQuery(preset), enabled: preset !== "" });
  const formatted = useFormatted(sql, dialect);
  const [edited, setEdited] = useState<string | null>(null);
  const current = edited ?? formatted;
  const client = useQueryClient();

  const running = useMutation({
    mutationFn: (statement: string) =>
      post<SqlResult>("/sql", {
        preset,
        sql: statement,
        question: run.question,
      } satisfies SqlRequest),
  });
  const keeping = useMutation({
    mutationFn: (statement: string) =>
      post("/feedback", { run_id: run.runId, verdict: "corrected", sql: statement }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["feedback"] }),
  });
  const [said, say] = useToast();
  const result = running.data;

  function go() {
    if (current.trim() && !running.isPending) {
      keeping.reset();
      running.mutate(current);
    }
  }

  return (
    <section role="group" className={css["bench"]} aria-label="SQL editor">
      <div className={css["head"]}>
        <h3 className={css["heading"]}>Edit the SQL</h3>
        <IconButton icon="cross" label="Close the editor" onClick={onClose} />
      </div>
      <div className={css["editor"]}>
        <SqlEditor
          key={sql === formatted ? "plain" : "formatted"}
          initial={current}
          dialect={dialect}
          schema={schema.data}
          onChange={setEdited}
          onRun={go}
        />
      </div>
      <div className={css["actions"]}>
        <Button look="filled" onClick={go} disabled={running.isPending}>
          {running.isPending ? "Running…" : "Run"}
        </Button>
        <span className={css["keys"]}>Ctrl Enter runs. Only reading is allowed, as for every question.</span>
        {result?.status === "success" && run.runId && (
          <Button look="framed" icon="check" disabled={keeping.isPending || keeping.isSuccess} onClick={() => keeping.mutate(running.variables ?? current)}>
            {keeping.isSuccess ? "Kept as the right answer" : "Keep as the right answer"}
          </Button>
        )}
        {result?.status === "success" && (
          <Button
            icon="link"
            onClick={() =>
              void copyText(runAddress(result.run_id)).then(
                () => say("Link copied"),
                (error: Error) => say(error.message),
              )
            }
          >
            Copy link
          </Button>
        )}
        <span role="status">{said}</span>
      </div>
      {keeping.error && <p className={css["problem"]}>{keeping.error.message}</p>}
      {running.error && (
        <p className={css["problem"]} role="alert">
          {running.error.message}
        </p>
      )}
      {result && result.status !== "success" && <Refusal result={result} />}
      {result?.status === "success" && (
        <ResultView
          key={result.run_id}
          traced={null}
          name={run.question}
          result={{
            runId: result.run_id,
            task: null,
            title: "Your SQL",
            columns: result.columns,
            rows: result.rows,
            total: result.rows_returned,
            truncated: result.truncated,
            milliseconds: result.execution_time_ms,
          }}
        />
      )}
    </section>
  );
}
