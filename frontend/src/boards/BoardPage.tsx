/** A board: kept answers and texts, run anew when it is opened. Its owner arranges, filters, shares and takes it away. */
import { useIsFetching, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useRef, useState } from "react";
import type { Board, BoardFilter, FilterValue, Tile } from "../api/boardTypes";
import { patch } from "../api/client";
import { boardPath, boardQuery, type BoardSource } from "../api/queries";
import { Button } from "../shell/Button";
import { NotFound } from "../shell/NotFound";
import { useToast } from "../shell/useToast";
import { BoardTitle } from "./BoardTitle";
import { BoardTools } from "./BoardTools";
import css from "./Boards.module.css";
import { FilterBar } from "./FilterBar";
import { nameValues, valuesIn } from "./filterWords";
import { IN_TURN } from "./pin";
import { TextTile } from "./TextTile";
import { TileView } from "./TileView";
import { useGrid } from "./useGrid";

const AddFilter = lazy(() => import("./AddFilter"));

interface Change {
  title?: string;
  tiles?: Tile[];
  filters?: BoardFilter[];
}

export default function BoardPage({ source }: { source: BoardSource }) {
  const { data: board, error } = useQuery(boardQuery(source));
  if (error) return <NotFound title="This board can't be shown." reason={error.message} />;
  if (!board) return <p className={css["page"]}>Fetching the board…</p>;
  return <Shown source={source} board={board} />;
}

function Shown({ source, board }: { source: BoardSource; board: Board }) {
  const client = useQueryClient();
  const page = useRef<HTMLDivElement>(null);
  const [arranging, setArranging] = useState(false);
  const [adding, setAdding] = useState(false);
  const [values, setValues] = useState<FilterValue[] | null>(null);
  const [said, say] = useToast();
  const { queryKey } = boardQuery(source);
  const change = useMutation({
    mutationKey: queryKey,
    scope: IN_TURN,
    mutationFn: (changed: Change) => patch<Board>(boardPath(source), changed),
    // what is shown is ahead of the server until the last change is answered
    onSuccess: (changed) => {
      if (client.isMutating({ mutationKey: queryKey }) === 1) client.setQueryData(queryKey, changed);
    },
    onError: (failed) => {
      say(failed.message);
      void client.invalidateQueries({ queryKey: ["boards"] });
    },
  });
  const put = (tiles: Tile[]) => {
    void client.cancelQueries({ queryKey });
    client.setQueryData(queryKey, (old) => old && { ...old, tiles: [...tiles] }); // at once: the next key goes on from here
    change.mutate({ tiles });
  };
  const grid = useGrid(board.tiles, () => client.getQueryData(queryKey)?.tiles ?? board.tiles, put);
  const running = useIsFetching({ queryKey: ["refreshed", source] });

  const left = board.filters.map((filter) => filter?.value ?? []);
  const shown = values?.length === board.filters.length ? values : valuesIn(location.search, board.filters);
  const changed = JSON.stringify(shown) !== JSON.stringify(left);
  const own = board.filters.filter((filter) => filter !== null);

  function set(place: number, value: FilterValue) {
    const next = shown.with(place, value);
    setValues(next);
    nameValues(JSON.stringify(next) === JSON.stringify(left) ? null : next);
  }
  /** Other filters: what is set of those that stay goes on. */
  function setFilters(filters: BoardFilter[], next: FilterValue[]) {
    setValues(next);
    nameValues(null);
    change.mutate({ filters });
  }

  return (
    <div ref={page} className={css["page"]}>
      <header className={css["header"]}>
        <BoardTitle title={board.title} onChange={board.mine ? (title) => change.mutate({ title }) : undefined} />
        <span role="status" className={css["said"]}>
          {said || (running > 0 ? "Refreshing…" : "")}
        </span>
        <BoardTools
          board={board}
          source={source}
          page={page}
          say={say}
          arranging={arranging}
          onArrange={() => setArranging(!arranging)}
        />
      </header>
      {(own.length > 0 || arranging) && (
        <FilterBar
          source={source}
          filters={board.filters}
          values={shown}
          onChange={set}
          onRemove={
            arranging ? (place) => setFilters(own.toSpliced(place, 1), shown.toSpliced(place, 1)) : undefined
          }
        >
          {board.mine && changed && (
            <Button
              onClick={() => setFilters(own.map((filter, place) => ({ ...filter, value: shown[place] ?? [] })), [...shown])}
            >
              Keep so for everybody
            </Button>
          )}
          {arranging && (
            <Button icon="plus" onClick={() => setAdding(true)}>
              Add a filter
            </Button>
          )}
        </FilterBar>
      )}
      {adding && (
        <Suspense fallback={null}>
          <AddFilter
            boardId={board.board_id}
            onAdd={(filter) => setFilters([...own, filter], [...shown, []])}
            onClose={() => setAdding(false)}
          />
        </Suspense>
      )}
      {arranging && (
        <Button icon="plus" onClick={() => put([...board.tiles, { kept_id: "", text: "New text", width: 4, height: 0 }])}>
          Add a text
        </Button>
      )}
      {board.tiles.length === 0 && (
        <p className={css["note"]}>
          Nothing is pinned here yet. Ask a question, press “Keep” above its result, and choose this board.
        </p>
      )}
      <ul className={css["grid"]}>
        {grid.shown.map((tile, index) => {
          const answer = board.answers.find((each) => each.kept_id === tile.kept_id);
          if (tile.kept_id && !answer) return null;
          const others = board.tiles.filter((_, place) => place !== index);
          const arrange = arranging
            ? {
                handle: grid.handle(index),
                corner: grid.corner(index),
                dragged: grid.dragging === index,
                unpin: () => put(others),
              }
            : null;
          const place = { tile, index, arrange };
          return answer ? (
            <TileView
              key={tile.kept_id}
              {...place}
              answer={answer}
              source={source}
              mine={board.mine}
              filters={board.filters}
              values={shown}
            />
          ) : (
            // texts have no name of their own
            <TextTile
              key={`text ${index}`}
              {...place}
              onChange={(text) => put(board.tiles.with(index, { ...tile, text }))}
            />
          );
        })}
      </ul>
    </div>
  );
}
