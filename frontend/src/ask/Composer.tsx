/**
 * Where questions are typed. Enter asks, Shift-Enter breaks the line, ↑ and ↓ walk through earlier questions, Esc
 * stops what runs, and `/` anywhere on the page comes here.
 */
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { questionsQuery } from "../api/queries";
import { liveRuns } from "../run/liveRuns";
import { Icon } from "../shell/Icon";
import css from "./Composer.module.css";
import { earlierQuestions, walk } from "./history";

interface Props {
  label: string;
  placeholder: string;
  running: boolean;
  onAsk: (question: string) => void;
  onStop: () => void;
  /** What stands beside the send button: the database picker. */
  children?: ReactNode;
  /** All in one line, below a thread. */
  compact?: boolean;
  /** Whether it takes the focus when the page opens; not on touch, where that opens a keyboard. */
  focused?: boolean;
}

export const MAX_QUESTION = 20_000;

export function Composer({ label, placeholder, running, onAsk, onStop, children, compact = false, focused = false }: Props) {
  const [text, setText] = useState("");
  const [place, setPlace] = useState(-1);
  const field = useRef<HTMLTextAreaElement>(null);
  const { data } = useQuery(questionsQuery);

  useEffect(() => {
    if (focused && matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, [focused]);

  useEffect(() => {
    function onKey(event: globalThis.KeyboardEvent) {
      if (event.key === "Escape" && running && !document.querySelector("dialog[open]")) onStop();
      if (event.key !== "/" || event.metaKey || event.ctrlKey || event.altKey) return;
      const at = event.target as HTMLElement;
      if (at.closest("input, textarea, select, [contenteditable]")) return;
      event.preventDefault();
      field.current?.focus();
    }
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [running, onStop]);

  function send() {
    const question = text.trim();
    if (!question || running) return;
    onAsk(question);
    setText("");
    setPlace(-1);
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
      return;
    }
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    const asked = liveRuns.all().map((run) => run.state.question);
    const history = earlierQuestions(data?.runs ?? [], asked);
    const step = walk(history, place, event.key === "ArrowUp" ? 1 : -1, text);
    if (!step) return;
    event.preventDefault();
    setPlace(step.place);
    setText(step.text);
  }

  return (
    <form
      className={css["composer"]}
      data-compact={compact || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label className="hidden-text" htmlFor="question">
        {label}
      </label>
      <textarea
        id="question"
        ref={field}
        className={css["field"]}
        rows={Math.min(text.split("\n").length, 8)}
        value={text}
        maxLength={MAX_QUESTION}
        placeholder={placeholder}
        onChange={(event) => {
          setText(event.target.value);
          setPlace(-1);
        }}
        onKeyDown={onKeyDown}
      />
      <div className={css["below"]}>
        {children}
        <span className={css["keys"]} aria-hidden="true">
          <kbd>↑</kbd> earlier questions
        </span>
        {running ? (
          <button type="button" className={`${css["go"]} ${css["stop"]}`} onClick={onStop}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <button type="submit" className={css["go"]} disabled={!text.trim()}>
            Ask <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
}
