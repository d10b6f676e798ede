/** The title of a board or a kept answer, which its owner can change where it stands. */
import { type FormEvent, useState } from "react";
import { Button, IconButton } from "../shell/Button";
import { takeFocus } from "../shell/takeFocus";
import css from "./Boards.module.css";

interface Props {
  title: string;
  what?: string;
  onChange?: ((title: string) => void) | undefined;
}

export function BoardTitle({ title, what = "board", onChange }: Props) {
  const [typed, setTyped] = useState<string | null>(null);
  if (typed === null || !onChange)
    return (
      <h1 className={css["title"]}>
        {title}
        {onChange && <IconButton icon="edit" label={`Rename the ${what}`} onClick={() => setTyped(title)} />}
      </h1>
    );

  function submit(event: FormEvent) {
    event.preventDefault();
    if (typed?.trim() && typed.trim() !== title) onChange?.(typed.trim());
    setTyped(null);
  }

  return (
    <form className={css["new"]} onSubmit={submit}>
      <input
        ref={takeFocus}
        aria-label={`Title of the ${what}`}
        value={typed}
        maxLength={200}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && setTyped(null)}
      />
      <Button look="framed" type="submit">
        Rename
      </Button>
    </form>
  );
}
