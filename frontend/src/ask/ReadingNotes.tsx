/** How the files of an uploaded database were read: the first notes, the others on demand. */
import { useState } from "react";
import css from "./ReadingNotes.module.css";

const FIRST = 3;

export function ReadingNotes({ notes }: { notes: readonly string[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? notes : notes.slice(0, FIRST);
  return (
    <section className={css["notes"]} aria-label="How the files were read">
      <ul>
        {shown.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      {notes.length > FIRST && (
        <button type="button" className={css["more"]} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Fewer notes" : `All ${notes.length} notes`}
        </button>
      )}
    </section>
  );
}
