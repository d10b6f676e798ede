/** One thread in the rail; it can be renamed, and deleted after a second thought. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { patch, remove } from "../api/client";
import type { ThreadSummary } from "../api/types";
import { liveRuns } from "../run/liveRuns";
import { Button, IconButton } from "../shell/Button";
import { counted } from "../shell/counted";
import { followLink, go, paths } from "../shell/router";
import { takeFocus } from "../shell/takeFocus";
import css from "./ThreadLink.module.css";

interface Props {
  thread: ThreadSummary;
  database: string;
  current: boolean;
}

export function ThreadLink({ thread, database, current }: Props) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const deletion = useMutation({
    mutationFn: () => remove(`/threads/${encodeURIComponent(thread.thread_id)}`),
    onSuccess: () => {
      liveRuns.forgetThread(thread.thread_id);
      if (current) go(paths.home);
      client.removeQueries({ queryKey: ["threads", thread.thread_id] });
      void client.invalidateQueries({ queryKey: ["threads"] });
    },
  });

  const [typed, setTyped] = useState<string | null>(null);
  const renaming = useMutation({
    mutationFn: (title: string) => patch(`/threads/${encodeURIComponent(thread.thread_id)}`, { title }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["threads"] }),
  });

  function rename(event: FormEvent) {
    event.preventDefault();
    if (typed?.trim() && typed.trim() !== thread.title) renaming.mutate(typed.trim());
    setTyped(null);
  }

  if (typed !== null)
    return (
      <li className={css["item"]}>
        <form className={css["rename"]} onSubmit={rename}>
          <input
            ref={takeFocus}
            aria-label="Title of the thread"
            value={typed}
            maxLength={120}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={(event) => event.key === "Escape" && setTyped(null)}
            onBlur={() => setTyped(null)}
          />
        </form>
      </li>
    );

  return (
    <li className={css["item"]}>
      <a
        className={css["link"]}
        href={paths.thread(thread.thread_id)}
        onClick={followLink}
        aria-current={current ? "page" : undefined}
      >
        <span className={css["title"]}>{thread.title}</span>
        <span className={css["facts"]}>
          {database} · {counted(thread.turns, "question")}
        </span>
      </a>
      {asking ? (
        <span className={css["confirm"]}>
          <Button onClick={() => deletion.mutate()} disabled={deletion.isPending}>
            Delete
          </Button>
          <Button onClick={() => setAsking(false)}>Keep</Button>
        </span>
      ) : (
        <span className={css["tools"]}>
          <IconButton icon="edit" label={`Rename the thread “${thread.title}”`} onClick={() => setTyped(thread.title)} />
          <IconButton icon="trash" label={`Delete the thread “${thread.title}”`} onClick={() => setAsking(true)} />
        </span>
      )}
    </li>
  );
}
