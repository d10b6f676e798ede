/** One's boards, and all answers that are kept, also those on no board. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { post, remove } from "../api/client";
import { boardsQuery, keptQuery } from "../api/queries";
import type { BoardSummary, KeptAnswer } from "../api/boardTypes";
import { ScheduleButton } from "../schedules/ScheduleButton";
import { Button, IconButton } from "../shell/Button";
import { counted } from "../shell/counted";
import { Icon } from "../shell/Icon";
import { followLink, go, paths } from "../shell/router";
import css from "./Boards.module.css";
import { PinMenu } from "./PinMenu";

export default function BoardsPage() {
  const boards = useQuery(boardsQuery);
  const kept = useQuery(keptQuery);
  const problem = boards.error ?? kept.error;
  return (
    <div className={css["page"]}>
      <header className={css["header"]}>
        <h1 className={css["title"]}>Boards</h1>
        <NewBoard />
      </header>
      {problem && (
        <p className={css["problem"]} role="alert">
          {problem.message}
        </p>
      )}
      {boards.data?.length === 0 && (
        <p className={css["note"]}>
          None yet. Press “Keep” above a result, and its question, SQL and chart stay here, run anew whenever you open
          them.
        </p>
      )}
      <ul className={css["boards"]}>
        {boards.data?.map((board) => (
          <li key={board.board_id}>
            <a className={css["board"]} href={paths.board(board.board_id)} onClick={followLink}>
              <span className={css["name"]}>{board.title}</span>
              <span className={css["facts"]}>
                {counted(board.tiles.length, "answer")}
                {board.shared && " · shared"}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {kept.data && kept.data.length > 0 && (
        <section aria-labelledby="kept-title">
          <h2 id="kept-title" className={css["heading"]}>
            Kept answers
          </h2>
          <ul className={css["kept"]}>
            {kept.data.map((answer) => (
              <KeptLine key={answer.kept_id} answer={answer} boards={boards.data ?? []} />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function NewBoard() {
  const client = useQueryClient();
  const [title, setTitle] = useState("");
  const making = useMutation({
    mutationFn: () => post<BoardSummary>("/boards", { title: title.trim() }),
    onSuccess: (board) => {
      void client.invalidateQueries({ queryKey: ["boards"] });
      go(paths.board(board.board_id));
    },
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (title.trim() && !making.isPending) making.mutate();
  }
  return (
    <form className={css["new"]} onSubmit={submit}>
      <input
        aria-label="Name of a new board"
        placeholder="Name of a new board"
        value={title}
        maxLength={200}
        onChange={(event) => setTitle(event.target.value)}
      />
      <Button look="framed" icon="plus" type="submit" disabled={!title.trim() || making.isPending}>
        New board
      </Button>
    </form>
  );
}

function KeptLine({ answer, boards }: { answer: KeptAnswer; boards: readonly BoardSummary[] }) {
  const client = useQueryClient();
  const removal = useMutation({
    mutationFn: () => remove(`/kept/${encodeURIComponent(answer.kept_id)}`),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["kept"] });
      void client.invalidateQueries({ queryKey: ["boards"] });
    },
  });
  const on = boards.filter((board) => board.tiles.some((tile) => tile.kept_id === answer.kept_id));
  return (
    <li className={css["line"]}>
      <Icon name={"kind" in answer.chart ? "board" : "pin"} />
      <span className={css["what"]}>
        <a className={css["name"]} href={paths.kept(answer.kept_id)} onClick={followLink}>
          {answer.title}
        </a>
        <span className={css["facts"]}>{on.length === 0 ? "on no board" : on.map((board) => board.title).join(", ")}</span>
      </span>
      <ScheduleButton small subject={{ title: answer.title, keptId: answer.kept_id }} />
      <PinMenu answer={answer} boards={boards.filter((board) => !on.includes(board))} />
      <IconButton
        icon="trash"
        label={`Keep “${answer.title}” no longer`}
        disabled={removal.isPending}
        onClick={() => removal.mutate()}
      />
    </li>
  );
}
