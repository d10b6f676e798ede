/** Keeps an answer under a name, on a board of one's choice, a new one, or none. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { post } from "../api/client";
import { boardsQuery } from "../api/queries";
import type { BoardSummary, KeptAnswer } from "../api/boardTypes";
import type { Look } from "../result/look";
import { Button } from "../shell/Button";
import css from "../shell/Dialog.module.css";
import { followLink, paths } from "../shell/router";
import { IN_TURN, pin } from "./pin";

interface Props {
  runId: string;
  name: string;
  look: Look | null;
  onClose: () => void;
}

const NEW = "new";
const NONE = "none";

export default function KeepDialog({ runId, name, look, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const client = useQueryClient();
  const boards = useQuery(boardsQuery);
  const [title, setTitle] = useState(name);
  const [chosen, setChosen] = useState<string | null>(null);
  const [boardTitle, setBoardTitle] = useState("");
  // before the boards are there nothing is chosen for one, and nothing can be kept in the wrong place
  const place = chosen ?? (boards.isPending ? null : (boards.data?.[0]?.board_id ?? NEW));

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  const keeping = useMutation({
    scope: IN_TURN,
    mutationFn: async (): Promise<string | null> => {
      const kept = await post<KeptAnswer>("/kept", { run_id: runId, title: title.trim() || null, chart: look });
      if (place === null || place === NONE) return null;
      const boardId = place === NEW ? await newBoard(boardTitle) : place;
      await pin(kept.kept_id, boardId);
      return boardId;
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["boards"] });
      void client.invalidateQueries({ queryKey: ["kept"] });
    },
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    event.stopPropagation();
    if (place !== null && !keeping.isPending) keeping.mutate();
  }

  const done = keeping.isSuccess ? (keeping.data ? paths.board(keeping.data) : paths.boards) : null;
  return createPortal(
    <dialog ref={dialog} className={css["dialog"]} onClose={onClose} aria-labelledby="keep-title">
      <form className={css["form"]} onSubmit={submit}>
        <h2 id="keep-title" className={css["title"]}>
          {done ? "Kept" : "Keep this answer"}
        </h2>
        {done ? (
          <p className={css["lead"]} role="status">
            “{title}” is kept with its SQL and its {look ? "chart" : "table"}. It is run anew whenever it is opened.
          </p>
        ) : (
          <>
            <label className={css["field"]}>
              <span>Title</span>
              <input value={title} maxLength={200} onChange={(e) => setTitle(e.target.value)} autoComplete="off" />
            </label>
            <label className={css["field"]}>
              <span>Board</span>
              <select value={place ?? ""} disabled={place === null} onChange={(e) => setChosen(e.target.value)}>
                {place === null && <option value="">…</option>}
                {boards.data?.map((board) => (
                  <option key={board.board_id} value={board.board_id}>
                    {board.title}
                  </option>
                ))}
                <option value={NEW}>A new board…</option>
                <option value={NONE}>No board</option>
              </select>
            </label>
            {place === NEW && (
              <label className={css["field"]}>
                <span>Name of the new board</span>
                <input
                  value={boardTitle}
                  maxLength={200}
                  placeholder="My board"
                  onChange={(e) => setBoardTitle(e.target.value)}
                  autoComplete="off"
                />
              </label>
            )}
          </>
        )}
        {keeping.error && (
          <p className={css["problem"]} role="alert">
            {keeping.error.message}
          </p>
        )}
        <div className={css["actions"]}>
          {done && (
            <a
              className={css["way"]}
              href={done}
              onClick={(event) => {
                followLink(event);
                dialog.current?.close();
              }}
            >
              {keeping.data ? "Open the board" : "Open what is kept"}
            </a>
          )}
          <Button look={done ? "framed" : "plain"} onClick={() => dialog.current?.close()}>
            {done ? "Close" : "Cancel"}
          </Button>
          {!done && (
            <Button look="filled" type="submit" disabled={place === null || keeping.isPending}>
              {keeping.isPending ? "Keeping…" : "Keep"}
            </Button>
          )}
        </div>
      </form>
    </dialog>,
    document.body,
  );
}

async function newBoard(title: string): Promise<string> {
  return (await post<BoardSummary>("/boards", { title: title.trim() || "My board" })).board_id;
}
