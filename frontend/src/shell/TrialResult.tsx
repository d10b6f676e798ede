/** What a model was found to be good for, in a few lines. */
import type { Trial } from "../api/modelTypes";
import css from "./Dialog.module.css";

export function TrialResult({ trial }: { trial: Trial }) {
  if (!trial.ok) return <p>{`It does not answer: ${trial.message}`}</p>;
  return (
    <>
      <p>
        {`It answers${trial.server && ` (${trial.server})`}: ${trial.name}. `}
        <strong>{`Recommended: ${trial.strategy === "offline" ? "the built-in engine" : trial.strategy}.`}</strong>{" "}
        {trial.reason}
      </p>
      <dl className={css["facts"]}>
        {facts(trial).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function facts(trial: Trial): [string, string][] {
  return [
    ["Reads at once", trial.context_tokens === null ? "not told" : `${trial.context_tokens.toLocaleString("en")} tokens`],
    ["Writes", trial.tokens_per_second === null ? "not known" : `${trial.tokens_per_second} tokens a second`],
    ["JSON as asked", yes(trial.structured)],
    ["Copies examples", yes(trial.copies_example)],
    ["Right queries", `${trial.right} of ${trial.asked}`],
    ["A query takes", trial.query_seconds === null ? "not known" : `${trial.query_seconds} s`],
    ["Tells right from wrong", yes(trial.judges)],
  ];
}

const yes = (known: boolean | null): string => (known === null ? "not tried" : known ? "yes" : "no");
