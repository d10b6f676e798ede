/** One thread in the rail; it can be deleted, after a second thought. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { remove } from "../api/client";
import type { ThreadSummary } from "../api/types";
import { liveRuns } from "../run/liveRuns";
import { Button, IconButton } from "../shell/Button";
import { counted } from "../shell/counted";
import { followLink, go, paths } from "../shell/router";
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
        <IconButton
          className={css["delete"] ?? ""}
          icon="trash"
          label={`Delete the thread “${thread.title}”`}
          onClick={() => setAsking(true)}
        />
      )}
    </li>
  );
}
