/** What can be done with a whole board. */
import { useQueryClient } from "@tanstack/react-query";
import type { RefObject } from "react";
import type { Board } from "../api/boardTypes";
import { download, post, remove } from "../api/client";
import { boardPath, boardQuery, type BoardSource } from "../api/queries";
import { ScheduleButton } from "../schedules/ScheduleButton";
import { Button } from "../shell/Button";
import { copyText } from "../shell/copyText";
import { fileName } from "../shell/fileName";
import { Menu } from "../shell/Menu";
import { address, go, paths } from "../shell/router";
import css from "./Boards.module.css";

interface Props {
  board: Board;
  source: BoardSource;
  page: RefObject<HTMLDivElement | null>;
  say: (text: string) => void;
  arranging: boolean;
  onArrange: () => void;
}

export function BoardTools({ board, source, page, say, arranging, onArrange }: Props) {
  const client = useQueryClient();
  const { queryKey } = boardQuery(source);
  const own = boardPath({ boardId: board.board_id });
  const attempt = (work: Promise<unknown>, done: string) =>
    void work.then(
      () => say(done),
      (failed: Error) => say(failed.message),
    );

  async function share() {
    const { share: secret } = await post<{ share: string }>(`${own}/share`);
    await client.invalidateQueries({ queryKey });
    await copyText(address(paths.shared(secret)));
  }

  async function unshare() {
    await remove(`${own}/share`);
    await client.invalidateQueries({ queryKey });
  }

  async function drop() {
    await remove(own);
    void client.invalidateQueries({ queryKey: ["boards"] });
    go(paths.boards);
  }

  async function picture() {
    const { saveBoard } = await import("./boardPicture");
    if (page.current) await saveBoard(page.current, board.title);
  }

  const save = (format: "html" | "markdown", ending: string) =>
    attempt(download(`${own}/export?format=${format}`, `${fileName(board.title)}.${ending}`), "Saved");
  const more = [
    { name: "Refresh all", run: () => void client.invalidateQueries({ queryKey: ["refreshed", source] }) },
    { name: "Full screen", run: () => attempt(page.current?.requestFullscreen() ?? Promise.resolve(), "") },
    { name: "Save as a picture", run: () => attempt(picture(), "Saved") },
    ...(board.mine
      ? [
          { name: "Save as HTML", run: () => save("html", "html") },
          { name: "Save as Markdown", run: () => save("markdown", "md") },
          ...(board.share ? [{ name: "End sharing", run: () => attempt(unshare(), "No longer shared") }] : []),
          { name: "Delete the board", run: () => attempt(drop(), "Deleted") },
        ]
      : []),
  ];
  return (
    <div className={css["tools"]}>
      {board.mine && (
        <>
          <Button aria-pressed={arranging} onClick={onArrange}>
            Arrange
          </Button>
          <Button icon="link" onClick={() => attempt(share(), "Link copied. Everyone with access to this server can open it.")}>
            {board.share ? "Copy link" : "Share"}
          </Button>
          <ScheduleButton subject={{ title: board.title, boardId: board.board_id }} />
        </>
      )}
      <Menu icon="menu" label="More" items={more} />
    </div>
  );
}
