/** What to do about an answer that is wrong: read it otherwise, say what a word means, or mend the SQL. */
import { useState } from "react";
import { type Option, Options } from "../ask/Options";
import type { RunState } from "../run/state";
import { Button } from "../shell/Button";
import AskMeaning from "../vocabulary/AskMeaning";
import { wordsOf } from "../vocabulary/places";
import css from "./Wrong.module.css";

interface Props {
  run: RunState;
  onTry: (sql: string) => void;
  onAsk: (question: string) => void;
  onEdit: () => void;
  onAgain?: (() => void) | undefined;
}

export default function Wrong({ run, onTry, onAsk, onEdit, onAgain }: Props) {
  const [word, setWord] = useState("");
  const { answer, preset } = run;
  const readings = [...(answer?.reading ?? []), ...(answer?.left_out ?? [])].filter((part) => part.others.length > 0);
  return (
    <section className={css["wrong"]} aria-label="What was meant">
      <h3>What was meant instead?</h3>
      {readings.map((part) => (
        <Ways
          key={part.text}
          heading={part.text}
          options={part.others.map(({ label, sql }) => ({ label, run: () => onTry(sql) }))}
        />
      ))}
      {answer && answer.alternatives.length > 0 && (
        <Ways heading="Another question" options={answer.alternatives.map((label) => ({ label, run: () => onAsk(label) }))} />
      )}
      {preset && (
        <Ways
          heading="A word means something else"
          options={wordsOf(run.question).map((label) => ({ label, run: () => setWord(label), pressed: label === word }))}
        />
      )}
      {preset && word && (
        <AskMeaning key={word} open preset={preset} question={run.question} words={[word]} onDone={onAgain} />
      )}
      <Button look="framed" icon="edit" onClick={onEdit}>
        Mend the SQL
      </Button>
    </section>
  );
}

function Ways({ heading, options }: { heading: string; options: readonly Option[] }) {
  if (options.length === 0) return null;
  return (
    <div role="group" aria-label={heading}>
      <p className={css["heading"]}>{heading}</p>
      <Options options={options} />
    </div>
  );
}
