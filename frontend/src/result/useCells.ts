/** The cells of a table as places that one reaches by the arrow keys and chooses by Enter or a click. */
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import type { OnPick } from "../drill/pick";
import type { PagedRows } from "./usePagedRows";

const STEPS: Partial<Record<string, readonly [number, number]>> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  PageDown: [10, 0],
  PageUp: [-10, 0],
};

export function useCells(pages: PagedRows, columns: number, show: (row: number) => void, onPick: OnPick | undefined) {
  const [reached, setReached] = useState({ row: 0, column: 0 });
  const moving = useRef<Element | null>(null);
  const latest = useRef({ pages, onPick });
  useEffect(() => {
    latest.current = { pages, onPick };
  });

  // the row that the keys have reached may only now be in the document
  useEffect(() => {
    const cell = moving.current?.querySelector<HTMLElement>(`[aria-rowindex="${reached.row + 2}"] > [tabindex="0"]`);
    if (!cell) return;
    cell.focus();
    moving.current = null;
  });

  const pick = useCallback((index: number, column: number, at: Element) => {
    const row = latest.current.pages.row(index);
    setReached({ row: index, column });
    if (row) latest.current.onPick?.({ rows: [row], column }, at);
  }, []);

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const cell = event.target as Element;
    if (!cell.matches('[role="gridcell"]')) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pick(reached.row, reached.column, cell);
      return;
    }
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const next = { row: within(reached.row + step[0], pages.total), column: within(reached.column + step[1], columns) };
    show(next.row);
    moving.current = event.currentTarget;
    setReached(next);
  }
  return { reached, pick, onKeyDown };
}

const within = (at: number, most: number): number => Math.min(Math.max(at, 0), most - 1);
