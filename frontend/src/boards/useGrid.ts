/** Tiles taken by a handle to another place, or drawn to another size: by the mouse, a finger, or the arrow keys. */
import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import type { Tile } from "../api/boardTypes";

/** A row of the board, in pixels. */
export const ROW = 120;
const COLUMNS = 4;
const ROWS = 8;
const MOVES: Partial<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
const SIZES: Partial<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** `latest`: the tiles with what was just put, which may not be drawn yet when the next key is pressed. */
export function useGrid(tiles: readonly Tile[], latest: () => readonly Tile[], put: (tiles: Tile[]) => void) {
  const [dragged, setDragged] = useState<{ tiles: Tile[]; at: number } | null>(null);
  const start = useRef({ left: 0, top: 0, column: 1 });
  const shown = dragged?.tiles ?? tiles;


  const drag = {
    onPointerUp: () => {
      if (dragged) put(dragged.tiles);
      setDragged(null);
    },
    onPointerCancel: () => setDragged(null),
  };
  const take = (at: number) => (event: PointerEvent<HTMLElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    const box = event.currentTarget.closest("li")?.getBoundingClientRect();
    start.current = { left: box?.left ?? 0, top: box?.top ?? 0, column: (box?.width ?? COLUMNS) / (shown[at]?.width ?? 1) };
    setDragged({ tiles: [...shown], at });
  };
  return {
    shown,
    /** The place of the tile that is being dragged; -1 for none. */
    dragging: dragged?.at ?? -1,
    handle: (at: number) => ({
      ...drag,
      onPointerDown: take(at),
      onPointerMove: (event: PointerEvent) => {
        if (!dragged) return;
        const over = document.elementsFromPoint(event.clientX, event.clientY).find((one) => one instanceof HTMLElement && one.dataset["place"]);
        const to = over instanceof HTMLElement ? Number(over.dataset["place"]) : dragged.at;
        if (to !== dragged.at) setDragged({ tiles: moved(shown, dragged.at, to), at: to });
      },
      onKeyDown: (event: KeyboardEvent) => {
        const step = MOVES[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const now = latest();
        const from = now.findIndex((tile) => tile === shown[at]);
        put(moved(now, from < 0 ? at : from, (from < 0 ? at : from) + step));
      },
    }),
    corner: (at: number) => ({
      ...drag,
      onPointerDown: take(at),
      onPointerMove: (event: PointerEvent) => {
        if (!dragged) return;
        const { left, top, column } = start.current;
        const width = Math.round((event.clientX - left) / column);
        setDragged({ tiles: sized(shown, at, width, Math.round((event.clientY - top) / ROW)), at });
      },
      onKeyDown: (event: KeyboardEvent) => {
        const step = SIZES[event.key];
        const tile = latest()[at];
        if (!step || !tile) return;
        event.preventDefault();
        put(sized(latest(), at, tile.width + step[0], tile.height + step[1]));
      },
    }),
  };
}

function moved(tiles: readonly Tile[], from: number, to: number): Tile[] {
  const tile = tiles[from];
  return tile ? tiles.toSpliced(from, 1).toSpliced(within(to, 0, tiles.length - 1), 0, tile) : [...tiles];
}

function sized(tiles: readonly Tile[], at: number, width: number, height: number): Tile[] {
  const tile = tiles[at];
  return tile ? tiles.with(at, { ...tile, width: within(width, 1, COLUMNS), height: within(height, 0, ROWS) }) : [...tiles];
}

const within = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);
