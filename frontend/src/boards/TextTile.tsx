/** A text between the answers of a board, in Markdown. */
import { type FormEvent, lazy, Suspense, useState } from "react";
import { Button } from "../shell/Button";
import { type Place, TileFrame } from "./TileFrame";
import css from "./Tile.module.css";

const Markdown = lazy(() => import("../answer/Markdown"));

const NONE: readonly never[] = [];

export function TextTile({ onChange, ...place }: Place & { onChange: (text: string) => void }) {
  const { tile, arrange } = place;
  const [typed, setTyped] = useState(tile.text);
  const title = tile.text.replace(/[#*_`>\n]+/g, " ").trim().slice(0, 40);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (typed.trim()) onChange(typed.trim());
  }
  return (
    <TileFrame {...place} title={title}>
      {arrange ? (
        <form className={css["text"]} onSubmit={submit}>
          <textarea aria-label="Text, in Markdown" value={typed} maxLength={5000} rows={4} onChange={(event) => setTyped(event.target.value)} />
          <Button type="submit" disabled={!typed.trim() || typed.trim() === tile.text}>
            Keep the text
          </Button>
        </form>
      ) : (
        <div className={css["text"]}>
          <Suspense fallback={<p>{tile.text}</p>}>
            <Markdown text={tile.text} results={NONE} question="" onTrace={() => undefined} />
          </Suspense>
        </div>
      )}
    </TileFrame>
  );
}
