/** Asks what words mean here, one after the other: likely meanings to click, or a form. After the last, what then? */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { likelyQuery } from "../api/queries";
import type { TaughtTerm } from "../api/types";
import clarifyCss from "../ask/Clarify.module.css";
import { Options } from "../ask/Options";
import { Button } from "../shell/Button";
import { TeachForm } from "./TeachForm";
import { Learned } from "./TermLine";
import { useTeach } from "./teaching";
import css from "./Vocabulary.module.css";

interface Props {
  preset: string;
  question: string;
  words: readonly string[];
  /** False once the thread has gone on: what was learned stays, nothing more is asked. */
  open: boolean;
  /** Called once something was taught and no word is left. */
  onDone?: (() => void) | undefined;
}

export default function AskMeaning({ preset, question, words, open, onDone }: Props) {
  const [place, setPlace] = useState(0);
  const [learned, setLearned] = useState<readonly TaughtTerm[]>([]);
  const box = useRef<HTMLDivElement>(null);
  const word = open ? words[place] : undefined;
  useEffect(() => {
    if (place > 0) box.current?.focus({ preventScroll: true });
  }, [place]);

  function next(term: TaughtTerm | null) {
    setPlace(place + 1);
    if (term) setLearned([...learned, term]);
    if (term && place + 1 === words.length) onDone?.();
  }

  if (word === undefined && learned.length === 0) return null;
  return (
    <div ref={box} role="group" tabIndex={-1} className={css["asked"]} aria-label={word ? `What “${word}” means` : "What was learned"}>
      <Learned preset={preset} terms={learned} />
      {word !== undefined && (
        <Meanings
          key={word}
          preset={preset}
          question={question}
          word={word}
          onTaught={next}
          onSkip={place + 1 < words.length ? () => next(null) : undefined}
        />
      )}
    </div>
  );
}

interface MeaningsProps {
  preset: string;
  question: string;
  word: string;
  onTaught: (term: TaughtTerm) => void;
  onSkip?: (() => void) | undefined;
}

function Meanings({ preset, question, word, onTaught, onSkip }: MeaningsProps) {
  const likely = useQuery(likelyQuery(preset, word, question));
  const [other, setOther] = useState(false);
  // that a word means what it says is no news
  const offered = likely.data?.filter(({ means }) => means.toLowerCase() !== word.toLowerCase()) ?? [];
  const none = !likely.isPending && offered.length === 0;
  const teaching = useTeach(preset, onTaught);
  return (
    <>
      <p className={clarifyCss["question"]}>
        What does <em>{word}</em> mean here?
      </p>
      {(!none || onSkip) && (
        <Options
          options={offered.map(({ means, label }) => ({
            label,
            run: () => teaching.isPending || teaching.mutate({ kind: "word", term: word, means }),
          }))}
        >
          {!none && (
            <li>
              <Button aria-expanded={other} onClick={() => setOther(!other)}>
                something else…
              </Button>
            </li>
          )}
          {onSkip && (
            <li>
              <Button onClick={onSkip}>skip it</Button>
            </li>
          )}
        </Options>
      )}
      {teaching.error && (
        <p role="alert" className={css["bad"]}>
          {teaching.error.message}
        </p>
      )}
      {(other || none) && <TeachForm preset={preset} kind="word" word={word} focused={other} onTaught={onTaught} />}
    </>
  );
}
