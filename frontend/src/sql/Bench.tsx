/** The editor with its Run button, and what came of the statement, under the same guard as every other. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { post } from "../api/client";
import { schemaQuery } from "../api/queries";
import type { SqlRequest, SqlResult } from "../api/types";
import { ResultView } from "../result/ResultPanel";
import { resultOf } from "../result/results";
import { Button } from "../shell/Button";
import { copyText } from "../shell/copyText";
import { address, paths } from "../shell/router";
import { useToast } from "../shell/useToast";
import { useFormatted } from "./format";
import { Refusal } from "./Refusal";
import { SqlEditor } from "./SqlEditor";
import css from "./Workbench.module.css";

interface Props {
  preset: string;
  dialect: string;
  sql: string;
  /** It is run as it comes. */
  runs?: boolean;
  /** What the statement answers; empty where nothing was asked. */
  question: string;
  /** What can be done besides with a statement that succeeded. */
  children?: (statement: string) => ReactNode;
  /** Hears the text whenever it changes. */
  onText?: (sql: string) => void;
}

export default function Bench({ preset, dialect, sql, runs = false, question, children, onText }: Props) {
  const schema = useQuery({ ...schemaQuery(preset), enabled: preset !== "" });
  const formatted = useFormatted(sql, dialect);
  const [edited, setEdited] = useState<string | null>(null);
  const current = edited ?? formatted;
  const [said, say] = useToast();
  const stopping = useRef(new AbortController());
  const running = useMutation({
    mutationFn: (statement: string) => {
      stopping.current = new AbortController();
      const asked = { preset, sql: statement, ...(question ? { question } : {}) } satisfies SqlRequest;
      return post<SqlResult>("/sql", asked, stopping.current.signal);
    },
  });
  const result = running.data;
  const succeeded = result?.status === "success";
  const shown = useMemo(() => result && resultOf(result, { runId: result.run_id, title: "Your SQL", preset }), [result, preset]);

  const { mutate } = running;
  useEffect(() => {
    if (runs) mutate(sql);
  }, [runs, sql, mutate]);

  function go() {
    if (current.trim() && !running.isPending) running.mutate(current);
  }

  return (
    <>
      <div className={css["editor"]}>
        <SqlEditor
          initial={formatted}
          dialect={schema.data?.dialect ?? dialect}
          schema={schema.data}
          onChange={(text) => {
            setEdited(text);
            onText?.(text);
          }}
          onRun={go}
        />
      </div>
      <div className={css["actions"]}>
        <Button look="filled" onClick={go} disabled={running.isPending}>
          {running.isPending ? "Running…" : "Run"}
        </Button>
        {running.isPending && (
          <Button icon="stop" onClick={() => stopping.current.abort()}>
            Stop
          </Button>
        )}
        <span className={css["keys"]}>Ctrl Enter runs. Only reading is allowed, as for every question.</span>
        {succeeded && children?.(running.variables ?? current)}
        {succeeded && (
          <Button
            icon="link"
            onClick={() =>
              void copyText(address(paths.run(result.run_id))).then(
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
      {running.error && running.error.name !== "AbortError" && (
        <p className={css["problem"]} role="alert">
          {running.error.message}
        </p>
      )}
      {result && !succeeded && <Refusal result={result} />}
      {succeeded && shown && <ResultView key={result.run_id} traced={null} name={question || "SQL"} result={shown} />}
    </>
  );
}
