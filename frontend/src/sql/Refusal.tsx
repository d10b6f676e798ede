/** Why a statement did not run: refused by the guard, names that do not exist, or the database's own words. */
import type { SqlOutcome } from "../api/types";
import css from "./Workbench.module.css";

export function Refusal({ result }: { result: SqlOutcome }) {
  const phantoms = Object.entries(result.phantoms ?? {}).flatMap(([kind, list]) =>
    list.map((phantom) => ({ kind: kind.replace(/s$/, ""), ...phantom })),
  );
  const title = result.status === "refused" ? "Not run" : result.status === "timeout" ? "Took too long" : "Failed";
  return (
    <div className={css["problem"]} role="alert">
      <strong>{title}.</strong> {result.reason ?? result.error}
      {phantoms.length > 0 && (
        <ul>
          {phantoms.map((phantom) => (
            <li key={`${phantom.kind}-${phantom.name}`}>
              There is no {phantom.kind} <code>{phantom.name}</code>
              {phantom.nearest?.length > 0 && <>; nearest: {phantom.nearest.join(", ")}</>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
