/** Says what a mark stands for when one points at it or reaches it by the keyboard, and lets it be picked. */
import css from "./ChartView.module.css";
import type { Mark } from "./drawChart";

/** What was picked: the rows of the result that the mark stands for (several, as of “Other”), and the value's column. */
export interface Pick {
  column: number;
  rows: number[];
}

export type OnPick = (pick: Pick, at: Element) => void;

/** A mark that is so near is meant, in pixels. */
const NEAR = 40;

/** Puts the drawing into `place`; returns what takes it away again. */
export function followMarks(place: HTMLElement, svg: Element, marks: ReadonlyMap<Element, Mark>, onPick?: OnPick): () => void {
  const tip = Object.assign(document.createElement("div"), { className: css["tip"], hidden: true });
  tip.setAttribute("aria-hidden", "true");
  place.replaceChildren(svg, tip);
  const parts = [...marks.keys()];

  function show(part: Element | null, pointer?: number) {
    const mark = part && marks.get(part);
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.text;
    const [box, at] = [place.getBoundingClientRect(), part.getBoundingClientRect()];
    const middle = Math.min(Math.max(pointer ?? (at.left + at.right) / 2, at.left), at.right) - box.left;
    const above = at.top - box.top - tip.offsetHeight - 6;
    tip.style.left = `${Math.max(0, Math.min(middle - tip.offsetWidth / 2, box.width - tip.offsetWidth))}px`;
    tip.style.top = `${above >= 0 ? above : Math.min(at.bottom - box.top + 6, box.height - tip.offsetHeight)}px`;
  }

  function meant(event: MouseEvent): Element | null {
    if (marks.has(event.target as Element)) return event.target as Element;
    let [nearest, least]: [Element | null, number] = [null, NEAR];
    for (const part of parts) {
      const { left, right, top, bottom } = part.getBoundingClientRect();
      const away = Math.hypot(Math.max(left - event.clientX, 0, event.clientX - right), Math.max(top - event.clientY, 0, event.clientY - bottom));
      if (away < least) [nearest, least] = [part, away];
    }
    return nearest;
  }

  function pick(part: Element | null) {
    const point = part && marks.get(part)?.point;
    if (point) onPick?.({ column: point.column, rows: point.rows }, part);
  }

  const point = (event: Event) => show(meant(event as MouseEvent), (event as MouseEvent).clientX);
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.addEventListener("pointerleave", () => show(null));
  if (!onPick) return () => place.replaceChildren();

  // one stop for the tabulator; the arrow keys go from mark to mark
  svg.setAttribute("role", "group");
  svg.classList.add(css["picked"] ?? "");
  for (const group of svg.querySelectorAll(":scope > g")) if (!parts.some((part) => group.contains(part))) group.setAttribute("aria-hidden", "true");
  for (const [index, part] of parts.entries()) {
    part.setAttribute("role", "button");
    part.setAttribute("aria-label", (marks.get(part)?.text ?? "").replaceAll("\n", ", "));
    part.setAttribute("tabindex", index === 0 ? "0" : "-1");
  }
  svg.addEventListener("click", (event) => pick(meant(event as MouseEvent)));
  svg.addEventListener("focusin", (event) => show(event.target as Element));
  svg.addEventListener("focusout", () => show(null));
  svg.addEventListener("keydown", (event) => {
    const { key } = event as KeyboardEvent;
    const at = parts.indexOf(event.target as Element);
    if (at < 0) return;
    if (key === "Enter" || key === " ") {
      event.preventDefault();
      pick(parts[at] ?? null);
    }
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: parts.length - 1 }[key];
    const next = to === undefined ? undefined : parts[to];
    if (!next) return;
    event.preventDefault();
    parts[at]?.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    (next as SVGElement).focus();
  });
  return () => place.replaceChildren();
}
