/** The runs of the lab: what is proved, the tournament of the kits, and what each kit changes against its parent. */
import { useQuery } from "@tanstack/react-query";
import { labQuery } from "../api/queries";
import type { LabKit, LabProof, LabRun, LabSplit } from "../api/labTypes";
import { counted } from "../shell/counted";
import css from "./LabPage.module.css";

const SPLITS: Record<string, string> = { random: "At random", form_disjoint: "Forms kept apart" };
const splitName = (split: LabSplit) => SPLITS[split.name] ?? split.name;

export default function LabPage() {
  const { data, error } = useQuery(labQuery);
  return (
    <div className={css["page"]}>
      <h1 className={css["title"]}>Lab</h1>
      {error && (
        <p className={css["problem"]} role="alert">
          {error.message}
        </p>
      )}
      {data?.length === 0 && <p className={css["note"]}>No run yet: <code>python -m agent.lab tune</code> makes one.</p>}
      {data?.map((run) => (
        <Run key={run.name} run={run} />
      ))}
    </div>
  );
}

function Run({ run }: { run: LabRun }) {
  const [verdict, style] = !run.ended ? ["Under way", "note"] : run.accepted ? ["Accepted", "good"] : ["Not accepted", "bad"];
  return (
    <section className={css["run"]} aria-label={`Run ${run.name}`}>
      <h2 className={css["name"]}>{run.name}</h2>
      <p className={css["note"]}>
        {run.evolver}, answered by {run.model}, seed {run.seed}
      </p>
      <p>
        <strong className={css[style ?? "note"]}>{verdict}.</strong> {run.why}
      </p>
      <Proofs splits={run.splits} />
      {run.splits.map((split) => (
        <Tournament key={split.name} split={split} ended={run.ended} />
      ))}
    </section>
  );
}

function Proofs({ splits }: { splits: LabSplit[] }) {
  const proved = splits.flatMap((split): [string, LabProof][] => (split.proof ? [[splitName(split), split.proof]] : []));
  if (proved.length === 0) return null;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={css["wide"]} tabIndex={0} role="group" aria-label="Proof on held-out questions">
      <table className={css["table"]}>
        <thead>
          <tr>
            <th scope="col">held-out questions</th>
            {["n", "before", "after", "won", "lost", "p"].map((head) => (
              <th key={head} scope="col" className={css["number"]}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {proved.map(([name, proof]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {[proof.n, proof.before.toFixed(3), proof.after.toFixed(3), proof.won, proof.lost, proof.p].map((cell, n) => (
                <td key={n} className={css["number"]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The kits of a split, the highest rating first. */
function Tournament({ split, ended }: { split: LabSplit; ended: boolean }) {
  const kits = split.kits.toSorted((a, b) => b.elo - a.elo);
  return (
    <section aria-label={splitName(split)}>
      <h3 className={css["heading"]}>
        {splitName(split)}: {counted(split.played, "round")}
        {!ended && ` of ${split.rounds}`}
      </h3>
      <p className={css["note"]}>Without a kit: ELO {split.base_elo}</p>
      <ul className={css["kits"]}>
        {kits.map((kit) => (
          <Kit key={kit.kit} kit={kit} />
        ))}
      </ul>
    </section>
  );
}

function Kit({ kit }: { kit: LabKit }) {
  return (
    <li className={css["kit"]}>
      <p>
        <span className={css["name"]}>{kit.kit}</span>
        {kit.chosen && <span className={css["good"]}> chosen</span>}
      </p>
      <p className={css["note"]}>
        ELO {kit.elo}, Bradley–Terry {kit.bradley_terry}; round {kit.round}, by {kit.by}
        {kit.parents.length > 0 && `, from ${kit.parents.join(", ")}`}
      </p>
      {kit.note && <p className={css["note"]}>{kit.note}</p>}
      {kit.changes.map((change) => (
        <details key={change.file}>
          <summary>{change.file}</summary>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <pre className={css["diff"]} tabIndex={0} role="group" aria-label={`What changes in ${change.file}`}>
            {change.lines.map((line, n) => (
              <span key={n} className={css[DIFF[line[0] ?? " "] ?? "same"]}>
                {line}
                {"\n"}
              </span>
            ))}
          </pre>
        </details>
      ))}
    </li>
  );
}

const DIFF: Record<string, string> = { "+": "added", "-": "removed" };
