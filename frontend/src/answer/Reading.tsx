/** How the question was read, made from the query that ran, and which rows the answer leaves out. Another reading is
 * tried at once, and can be made the rule. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Answer, Choice, Teaching } from "../api/events";
import { termsQuery } from "../api/queries";
import type { TaughtTerm } from "../api/types";
import { Menu, type MenuItem } from "../shell/Menu";
import { useTakeBack, useTeach } from "../vocabulary/teaching";
import { Learned } from "../vocabulary/TermLine";
import css from "./Reading.module.css";

interface Props {
  answer: Answer;
  preset: string | null;
  /** Runs another query beside the answer's own. */
  onTry: (sql: string) => void;
}

const OTHERS: Partial<Record<string, string>> = { rows: "another date", groups: "another date", shown: "another figure" };

export function Reading({ answer, preset, onTry }: Props) {
  const [learned, setLearned] = useState<readonly TaughtTerm[]>([]);
  const teaching = useTeach(preset ?? "", (term) => setLearned([...learned, term]));
  const parts = answer.reading ?? [];
  const missing = answer.left_out ?? [];
  const rule = useRule(answer, preset, learned);
  const forgetting = useTakeBack(preset ?? "");
  if (!parts.length || answer.abstained || answer.status === "error") return null;
  const include = () => {
    if (!rule || rule.forgotten !== null || forgetting.isPending) return;
    setLearned([...learned.filter((one) => one.term_id !== rule.term_id), rule]);
    forgetting.mutate(rule);
  };
  const ways = (others: readonly Choice[]): MenuItem[] => [
    ...others.map(({ label, sql }) => ({ name: label, run: () => onTry(sql) })),
    ...others.flatMap(({ teaches }) =>
      teaches && preset ? [{ name: always(teaches), run: () => teaching.isPending || teaching.mutate(teaches) }] : [],
    ),
  ];
  const problem = teaching.error ?? forgetting.error;
  return (
    <div className={css["reading"]} role="group" aria-label="How this was read">
      <ul className={css["parts"]}>
        {parts.map((part) => (
          <li key={part.text}>
            <span>{part.text}</span>
            {part.others.length > 0 && !part.others.some(isSentence) ? (
              <Menu compact icon="edit" label={OTHERS[part.kind] ?? "another"} items={ways(part.others)} />
            ) : (
              <Ways ways={[...ways(part.others), ...(rule && part.others.some(isSentence) ? [{ name: "Always include them", run: include }] : [])]} />
            )}
          </li>
        ))}
      </ul>
      {missing.map((one) => (
        <p key={one.text} className={css["missing"]}>
          {one.text}. <Ways ways={ways(one.others)} />
        </p>
      ))}
      <Learned preset={preset ?? ""} terms={learned} />
      {problem && <p role="alert">{problem.message}</p>}
    </div>
  );
}

/** What was taught that leaves rows out of this answer, where only one thing can be meant. */
function useRule(answer: Answer, preset: string | null, learned: readonly TaughtTerm[]): TaughtTerm | undefined {
  const hides = (answer.reading ?? []).filter((part) => part.others.some(isSentence)).length === 1;
  const { data } = useQuery({ ...termsQuery(preset ?? ""), enabled: hides && preset !== null });
  const sql = answer.sql.toLowerCase();
  const rules = data?.filter(
    (term) =>
      term.kind === "hidden" &&
      (term.forgotten === null || learned.some((one) => one.term_id === term.term_id)) &&
      sql.includes(term.term.toLowerCase()),
  );
  return hides && rules?.length === 1 ? rules[0] : undefined;
}

/** Rows are taken in or left out: said in full, where another column is only named. */
const isSentence = (choice: Choice): boolean => choice.label.endsWith(" them");

function Ways({ ways }: { ways: readonly MenuItem[] }) {
  return ways.map(({ name, run }) => (
    <button key={name} type="button" className={css["choice"]} onClick={run}>
      {name}
    </button>
  ));
}

/** What is taught, as a menu says it. */
function always({ kind, term, means }: Teaching): string {
  if (kind === "hidden") return "Always leave them out";
  return `Always use ${means.startsWith(`${term}.`) ? means.slice(term.length + 1) : means} for ${term}`;
}
