/** The attempts at each task side by side: why each was sent back, and what changed in the SQL of the next. */
import { useMemo } from "react";
import type { Attempt } from "../api/events";
import type { RunState } from "../run/state";
import { RETRY_REASONS, seconds } from "../run/steps";
import { IconButton } from "../shell/Button";
import { changesAround, type Part } from "../sql/difference";
import { useFormatted } from "../sql/format";
import { Tokens } from "../sql/SqlText";
import css from "./AttemptsCompare.module.css";

export default function AttemptsCompare({ run, onClose }: { run: RunState; onClose: () => void }) {
  const tasks = [...new Set(run.attempts.map((attempt) => attempt.task_id))];
  return (
    <section role="group" className={css["compare"]} aria-label="Attempts side by side">
      <div className={css["head"]}>
        <h3>Attempts side by side</h3>
        <IconButton icon="cross" label="Close the comparison" onClick={onClose} />
      </div>
      {tasks.map((task) => {
        const attempts = run.attempts.filter((attempt) => attempt.task_id === task);
        const description = run.plan?.tasks.find((t) => t.id === task)?.description;
        return (
          <div key={task}>
            {tasks.length > 1 && <p className={css["task"]}>{description}</p>}
            <ol className={css["row"]}>
              {attempts.map((attempt, index) => (
                <AttemptCard
                  key={attempt.attempt}
                  attempt={attempt}
                  before={attempts[index - 1] ?? null}
                  after={attempts[index + 1] ?? null}
                  outdone={attempts.find((other) => other.replaces?.includes(attempt.attempt)) ?? null}
                  run={run}
                />
              ))}
            </ol>
          </div>
        );
      })}
    </section>
  );
}

interface CardProps {
  attempt: Attempt;
  before: Attempt | null;
  after: Attempt | null;
  /** The attempt that was preferred to this one, without a retry. */
  outdone: Attempt | null;
  run: RunState;
}

function AttemptCard({ attempt, before, after, outdone, run }: CardProps) {
  const dialect = run.answer?.dialect ?? "sqlite";
  const sql = useFormatted(attempt.sql, dialect);
  const previous = useFormatted(before?.sql ?? "", dialect);
  const next = useFormatted(after?.sql ?? "", dialect);
  const retry = run.retries.find((r) => r.taskId === attempt.task_id && r.attempt === attempt.attempt + 1);
  const category = attempt.retry_category ?? retry?.category ?? null;
  const kept = attempt.sql !== "" && attempt.sql === run.answer?.sql;
  const parts = useMemo(
    () => changesAround(before && previous, sql, after && next),
    [before, previous, sql, after, next],
  );
  return (
    <li className={css["card"]} data-kept={kept || undefined}>
      <h4 className={css["title"]}>
        Attempt {attempt.attempt}
        {kept && <span className={css["kept"]}>behind the answer</span>}
      </h4>
      {attempt.verdict && attempt.status === "success" && <p className={css["note"]}>{sentence(attempt.verdict)}</p>}
      <dl className={css["facts"]}>
        <div>
          <dt>Rows</dt>
          <dd>{attempt.rows_returned.toLocaleString("en")}</dd>
        </div>
        <div>
          <dt>Time</dt>
          <dd>{seconds(attempt.execution_time_ms)}</dd>
        </div>
      </dl>
      {category && (
        <p className={css["reason"]}>
          {RETRY_REASONS[category]}
          {after ? ", so it was tried again" : ""}
        </p>
      )}
      {outdone && !category && <p className={css["reason"]}>Attempt {outdone.attempt} was preferred to it.</p>}
      {attempt.agreeing && (
        <p className={css["note"]}>
          {attempt.agreeing[0]} of {attempt.agreeing[1]} candidates came to this result.
        </p>
      )}
      {typeof attempt.verified === "boolean" && (
        <p className={css["note"]}>
          {attempt.verified ? "The model looked at the rows and accepted them." : "The model looked at the rows and was not satisfied."}
        </p>
      )}
      <WhatIsWrong attempt={attempt} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className={css["sql"]} tabIndex={0} role="group" aria-label={`SQL of attempt ${attempt.attempt}`}>
        <code>
          {parts.map((part, index) => (
            // a part is known by its place only
            <PartView key={index} part={part} />
          ))}
        </code>
      </pre>
    </li>
  );
}

/** The server's few words as a sentence. */
const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

/** The database's own words, and what forbids the attempt. */
function WhatIsWrong({ attempt }: { attempt: Attempt }) {
  const said = [attempt.error, ...(attempt.eval_report?.vetoes ?? [])].filter((text) => text !== null);
  return [...new Set(said)].map((text) => (
    <p key={text} className={css["error"]}>
      {text}
    </p>
  ));
}

function PartView({ part }: { part: Part }) {
  const text = <Tokens tokens={part.tokens} />;
  if (part.added && part.removed)
    return (
      <ins className={css["added"]}>
        <del className={css["removed"]}>{text}</del>
      </ins>
    );
  if (part.added) return <ins className={css["added"]}>{text}</ins>;
  return part.removed ? <del className={css["removed"]}>{text}</del> : text;
}
