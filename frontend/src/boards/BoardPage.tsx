/** A board: kept answers side by side, run anew when it is opened. Its owner arranges, shares and takes it away. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { download, patch, post, remove } from "../api/client";
import { boardPath, boardQuery, type BoardSource } from "../api/queries";
import type { Board, Tile } from "../api/types";
import { ScheduleButton } from "../schedules/ScheduleButton";
import { Button } from "../shell/Button";
import { copyText } from "../shell/copyText";
import { fileName } from "../shell/fileName";
import { Menu } from "../shell/Menu";
import { NotFound } from "../shell/NotFound";
import { address, go, paths } from "../shell/router";
import { useToast } from "../shell/useToast";
import { BoardTitle } from "./BoardTitle";
import css from "./Boards.module.css";
import { IN_TURN } from "./pin";
import { TileView } from "./TileView";

export default function BoardPage({ source }: { source: BoardSource }) {
  const client = useQueryClient();
  const { data: board, error } = useQuery(boardQuery(source));
  const [arranging, setArranging] = useState(false);
  const [said, say] = useToast();
  const { queryKey } = boardQuery(source);
  const change = useMutation({
    mutationKey: queryKey,
    scope: IN_TURN,
    mutationFn: (changed: { title?: string; tiles?: Tile[] }) => patch<Board>(boardPath(source), changed),
    onMutate: async ({ tiles }) => {
      if (!tiles) return;
      await client.cancelQueries({ queryKey });
      client.setQueryData(queryKey, (old) => old && arranged(old, tiles));
    },
    // what is shown is ahead of the server until the last change is answered
    onSuccess: (changed) => {
      if (client.isMutating({ mutationKey: queryKey }) === 1) client.setQueryData(queryKey, changed);
    },
    onError: (failed) => {
      say(failed.message);
      void client.invalidateQueries({ queryKey: ["boards"] });
    },
  });

  if (error) return <NotFound title="This board can't be shown." reason={error.message} />;
  if (!board) return <p className={css["page"]}>Fetching the board…</p>;

  const attempt = (work: Promise<unknown>, done: string) =>
    void work.then(
      () => say(done),
      (failed: Error) => say(failed.message),
    );
  const own = boardPath({ boardId: board.board_id });

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

  const put = (tiles: Tile[]) => change.mutate({ tiles });
  const save = (format: "html" | "markdown", ending: string) =>
    attempt(download(`${own}/export?format=${format}`, `${fileName(board.title)}.${ending}`), "Saved");
  const more = [
    { name: "Save as HTML", run: () => save("html", "html") },
    { name: "Save as Markdown", run: () => save("markdown", "md") },
    ...(board.share ? [{ name: "End sharing", run: () => attempt(unshare(), "No longer shared") }] : []),
    { name: "Delete the board", run: () => attempt(drop(), "Deleted") },
  ];
  return (
    <div className={css["page"]}>
      <header className={css["header"]}>
        <BoardTitle title={board.title} onChange={board.mine ? (title) => change.mutate({ title }) : undefined} />
        <span role="status" className={css["said"]}>
          {said}
        </span>
        {board.mine && (
          <div className={css["tools"]}>
            {board.tiles.length > 0 && (
              <Button aria-pressed={arranging} onClick={() => setArranging(!arranging)}>
                Arrange
              </Button>
            )}
            <Button icon="link" onClick={() => attempt(share(), "Link copied. Everyone with access to this server can open it.")}>
              {board.share ? "Copy link" : "Share"}
            </Button>
            <ScheduleButton subject={{ title: board.title, boardId: board.board_id }} />
            <Menu icon="menu" label="More" items={more} />
          </div>
        )}
      </header>
      {board.tiles.length === 0 && (
        <p className={css["note"]}>
          Nothing is pinned here yet. Ask a question, press “Keep” above its result, and choose this board.
        </p>
      )}
      <ul className={css["grid"]}>
        {board.tiles.map((tile, index) => {
          const answer = board.answers[index];
          if (!answer) return null;
          const others = board.tiles.filter((each) => each !== tile);
          return (
            <TileView
              key={tile.kept_id}
              tile={tile}
              answer={answer}
              source={source}
              mine={board.mine}
              arrange={
                arranging
                  ? {
                      first: index === 0,
                      last: index === board.tiles.length - 1,
                      move: (step) => put(others.toSpliced(index + step, 0, tile)),
                      widen: () => put(board.tiles.with(index, { ...tile, wide: !tile.wide })),
                      unpin: () => put(others),
                    }
                  : null
              }
            />
          );
        })}
      </ul>
    </div>
  );
}

function arranged(board: Board, tiles: readonly Tile[]): Board {
  const answers = tiles.flatMap((tile) => board.answers.find((answer) => answer.kept_id === tile.kept_id) ?? []);
  return { ...board, tiles: [...tiles], answers };
}
