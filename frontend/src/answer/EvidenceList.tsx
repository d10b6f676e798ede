/** What speaks for and against the answer, and the seven dimensions that the gate adds up. */
import type { Answer } from "../api/events";
import css from "./EvidenceList.module.css";
import { DIMENSIONS, shownAttempt, weighed } from "./sureness";

export function EvidenceList({ answer }: { answer: Answer }) {
  const report = shownAttempt(answer)?.eval_report;
  if (!report) return null;
  const evidence = weighed(report.analysis.evidence ?? []);
  const judged = report.relevance.reasoning;
  return (
    <div className={css["why"]}>
      <section role="group" aria-label="Evidence">
        <h3 className={css["heading"]}>Evidence</h3>
        <ul>
          {answer.doubts.slice(1).map((doubt) => (
            <li key={doubt} className={css["item"]} data-side="against">
              <span className={css["side"]}>Doubt</span>
              <span>{doubt}</span>
            </li>
          ))}
          {report.vetoes.map((veto) => (
            <li key={veto} className={css["item"]} data-side="against">
              <span className={css["side"]}>Veto</span>
              <span>{veto}</span>
            </li>
          ))}
          {evidence.map((item) => (
            <li key={item.name} className={css["item"]} data-side={sideOf(item.supports)}>
              <span className={css["side"]}>{SIDES[sideOf(item.supports)]}</span>
              <span>{item.text}</span>
            </li>
          ))}
          {judged && (
            <li className={css["item"]} data-side="neutral">
              <span className={css["side"]}>Judge</span>
              <span>{judged}</span>
            </li>
          )}
        </ul>
      </section>
      <section role="group" aria-label="Dimensions">
        <h3 className={css["heading"]}>Dimensions</h3>
        <dl>
          {DIMENSIONS.map(({ key, name, meaning }) => {
            const value = report.dimensions[key];
            if (value === undefined) return null;
            return (
              <div key={key} className={css["dimension"]} title={report.analysis.notes?.[key] ?? meaning}>
                <dt>{name}</dt>
                <dd>
                  <span className={css["track"]} aria-hidden="true">
                    <span className={css["bar"]} style={{ inlineSize: `${Math.round(value * 100)}%` }} />
                  </span>
                  <span className={css["value"]}>{value.toFixed(2)}</span>
                </dd>
              </div>
            );
          })}
        </dl>
      </section>
    </div>
  );
}

type Side = "for" | "against" | "neutral";

const SIDES: Record<Side, string> = { for: "For", against: "Against", neutral: "Noted" };

const sideOf = (supports: boolean | null): Side => (supports === null ? "neutral" : supports ? "for" : "against");
