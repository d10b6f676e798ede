/** Questions whose SQL somebody has found right; they help with later questions, and can be asked again. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useRef, useState } from "react";
import { post, remove } from "../api/client";
import { verifiedQuery } from "../api/queries";
import type { FeedbackReply, VerifiedPair } from "../api/types";
import { useNewThread } from "../run/useNewThread";
import { Button, IconButton } from "../shell/Button";
import { useFormatted } from "../sql/format";
import { SqlText } from "../sql/SqlText";
import { Learned } from "../vocabulary/TermLine";
import css from "./VerifiedList.module.css";

const Bench = lazy(() => import("../sql/Bench"));

export function VerifiedList({ preset, dialect }: { preset: string; dialect: string }) {
  const { data, error } = useQuery({ ...verifiedQuery(preset), staleTime: 0 });
  const { run, ask } = useNewThread();
  const pairs = data?.filter((pair) => pair.verdict !== "wrong") ?? [];
  if (error) return <p className={css["none"]}>{error.message}</p>;
  if (data && pairs.length === 0)
    return (
      <p className={css["none"]}>
        None yet. Press “Right” below an answer, or mend its SQL and keep it, and it appears here.
      </p>
    );
  return (
    <ul className={css["list"]}>
      {run?.state.error && <li role="alert">{run.state.error.message}</li>}
      {pairs.map((pair) => (
        <Verified
          key={`${pair.created}-${pair.question}`}
          pair={pair}
          dialect={dialect}
          onAsk={() => ask(pair.question, preset)}
        />
      ))}
    </ul>
  );
}

interface Props {
  pair: VerifiedPair;
  dialect: string;
  onAsk: () => void;
}

function Verified({ pair, dialect, onAsk }: Props) {
  const client = useQueryClient();
  const formatted = useFormatted(pair.sql, dialect);
  const [editing, setEditing] = useState(false);
  const edit = useRef<HTMLDivElement>(null);
  const change = useMutation({
    mutationFn: (sql: string | null): Promise<FeedbackReply | void> =>
      sql === null
        ? remove(`/feedback/${encodeURIComponent(pair.run_id)}`)
        : post<FeedbackReply>("/feedback", { run_id: pair.run_id, verdict: "corrected", sql }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["feedback"] });
      setEditing(false);
      edit.current?.querySelector<HTMLElement>("[aria-pressed]")?.focus();
    },
  });
  return (
    <li className={css["pair"]}>
      <div className={css["head"]} ref={edit}>
        <h2 className={css["question"]}>{pair.question}</h2>
        <Button icon="retry" onClick={onAsk} disabled={pair.question === ""}>
          Ask again
        </Button>
        <IconButton icon="edit" label={`Edit the SQL of “${pair.question}”`} aria-pressed={editing} onClick={() => setEditing(!editing)} />
        <IconButton
          icon="trash"
          label={`“${pair.question}” is verified no longer`}
          disabled={change.isPending}
          onClick={() => change.mutate(null)}
        />
      </div>
      <Learned preset={pair.preset} terms={change.data?.learned ?? []} />
      {change.error && <p role="alert">{change.error.message}</p>}
      {editing ? (
        <Suspense fallback={<p role="status">Opening…</p>}>
          <Bench preset={pair.preset} dialect={dialect} sql={pair.sql} question={pair.question}>
            {(statement) => (
              <Button look="framed" icon="check" disabled={change.isPending} onClick={() => change.mutate(statement)}>
                Keep as the right answer
              </Button>
            )}
          </Bench>
        </Suspense>
      ) : (
        <SqlText sql={formatted} label={`SQL for “${pair.question}”`} />
      )}
    </li>
  );
}
