/** The SQL of an answer edited by hand; what comes of it can be kept as the right answer. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post } from "../api/client";
import type { FeedbackReply } from "../api/types";
import type { RunState } from "../run/state";
import { Button, IconButton } from "../shell/Button";
import { Learned } from "../vocabulary/TermLine";
import Bench from "./Bench";
import css from "./Workbench.module.css";

interface Props {
  run: RunState;
  sql: string;
  /** It is run as it comes. */
  runs?: boolean;
  onClose: () => void;
}

export default function Workbench({ run, sql, runs = false, onClose }: Props) {
  const client = useQueryClient();
  const keeping = useMutation({
    mutationFn: (statement: string) =>
      post<FeedbackReply>("/feedback", { run_id: run.runId, verdict: "corrected", sql: statement }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["feedback"] }),
  });
  return (
    <section role="group" className={css["bench"]} aria-label="SQL editor">
      <div className={css["head"]}>
        <h3 className={css["heading"]}>{sql ? "Edit the SQL" : "Write the SQL"}</h3>
        <IconButton icon="cross" label="Close the editor" onClick={onClose} />
      </div>
      <Bench
        preset={run.preset ?? ""}
        dialect={run.answer?.dialect ?? run.schema?.dialect ?? "sqlite"}
        sql={sql}
        runs={runs}
        question={run.question}
      >
        {(statement) => {
          const done = keeping.isSuccess && keeping.variables === statement;
          return (
            run.runId && (
              <Button
                look="framed"
                icon="check"
                aria-disabled={done}
                onClick={() => keeping.isPending || done || keeping.mutate(statement)}
              >
                {done ? "Kept as the right answer" : "Keep as the right answer"}
              </Button>
            )
          );
        }}
      </Bench>
      <Learned preset={run.preset ?? ""} terms={keeping.data?.learned ?? []} />
      {keeping.error && <p className={css["problem"]}>{keeping.error.message}</p>}
    </section>
  );
}
