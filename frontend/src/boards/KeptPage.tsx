/** One kept answer by its own address: its rows of now, its title and its SQL, which can be changed. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { KeptAnswer } from "../api/boardTypes";
import { patch, post, remove } from "../api/client";
import { keptAnswerQuery } from "../api/queries";
import { ScheduleButton } from "../schedules/ScheduleButton";
import { Button } from "../shell/Button";
import { NotFound } from "../shell/NotFound";
import { go, paths } from "../shell/router";
import { BoardTitle } from "./BoardTitle";
import css from "./Boards.module.css";
import { IN_TURN } from "./pin";
import { Answer } from "./TileView";

const Bench = lazy(() => import("../sql/Bench"));

export default function KeptPage({ keptId }: { keptId: string }) {
  const client = useQueryClient();
  const { queryKey } = keptAnswerQuery(keptId);
  const path = `/kept/${encodeURIComponent(keptId)}`;
  const { data: answer, error } = useQuery({
    ...keptAnswerQuery(keptId),
    // it is opened to see what is so now
    queryFn: ({ signal }) => post<KeptAnswer>(`${path}/refresh`, {}, signal),
    staleTime: 0,
  });
  const [editing, setEditing] = useState(false);
  const change = useMutation({
    scope: IN_TURN, // the last one said stands
    mutationFn: (changed: { title?: string; sql?: string }) => patch<KeptAnswer>(path, changed),
    onMutate: () => client.cancelQueries({ queryKey }), // what is on its way is older
    onSuccess: (changed, { sql }) => {
      client.setQueryData(queryKey, changed);
      void client.invalidateQueries({ queryKey: ["kept"], exact: true });
      if (sql) setEditing(false);
    },
  });
  const rerun = useMutation({
    mutationFn: (values: string[] | null) => post<KeptAnswer>(`${path}/refresh`, { values }),
    onSuccess: (fresh) => client.setQueryData(queryKey, fresh),
  });
  const removal = useMutation({
    mutationFn: () => remove(path),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["boards"] });
      void client.invalidateQueries({ queryKey: ["kept"], exact: true });
      go(paths.boards);
    },
  });
  if (error) return <NotFound title="This answer can't be shown." reason={error.message} />;
  if (!answer) return <p className={css["page"]}>Running it…</p>;
  const problem = change.error ?? rerun.error ?? removal.error;
  return (
    <div className={css["page"]}>
      <header className={css["header"]}>
        <BoardTitle title={answer.title} what="answer" onChange={(title) => change.mutate({ title })} />
        <div className={css["tools"]}>
          <Button icon="edit" aria-pressed={editing} onClick={() => setEditing(!editing)}>
            Edit the SQL
          </Button>
          <ScheduleButton subject={{ title: answer.title, keptId }} />
          <Button icon="trash" disabled={removal.isPending} onClick={() => removal.mutate()}>
            Keep no longer
          </Button>
        </div>
      </header>
      {problem && (
        <p className={css["problem"]} role="alert">
          {problem.message}
        </p>
      )}
      {editing ? (
        <Suspense fallback={<p role="status">Opening…</p>}>
          <Bench preset={answer.preset} dialect={answer.dialect} sql={answer.sql} question={answer.question}>
            {(statement) => (
              <Button look="framed" icon="check" disabled={change.isPending} onClick={() => change.mutate({ sql: statement })}>
                Keep this SQL
              </Button>
            )}
          </Bench>
        </Suspense>
      ) : (
        <Answer answer={answer} mine pending={rerun.isPending} onRun={(values) => rerun.mutate(values)} onSaved={(saved) => client.setQueryData(queryKey, saved)} />
      )}
    </div>
  );
}
