/** A question back, answered with a click, or in one's own words in the field below. */
import css from "./Clarify.module.css";
import { Options } from "./Options";

interface Props {
  question: string;
  options: readonly string[];
  /** False once the thread has gone on. */
  open: boolean;
  onChoose: (option: string) => void;
}

export function Clarify({ question, options, open, onChoose }: Props) {
  return (
    <section role="group" className={css["clarify"]} aria-label="A question back">
      <p className={css["question"]}>{question}</p>
      <Options options={options.map((label) => ({ label, run: () => onChoose(label) }))} disabled={!open} />
      {open && <p className={css["hint"]}>Or say it in your own words below.</p>}
    </section>
  );
}
