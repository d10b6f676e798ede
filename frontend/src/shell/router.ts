/** Where one is: the addresses of the page, on the browser's own history. */
import { type MouseEvent, useSyncExternalStore } from "react";
import { BASE } from "../api/base";

export type Place =
  | { name: "home" }
  | { name: "thread"; threadId: string }
  | { name: "run"; runId: string }
  | { name: "database"; preset: string }
  | { name: "data"; preset: string; view: DataView }
  | { name: "sql"; preset: string }
  | { name: "boards" }
  | { name: "board"; boardId: string }
  | { name: "shared"; share: string }
  | { name: "kept"; keptId: string }
  | { name: "lab" }
  | { name: "activity" }
  | { name: "lost" };

/** What is shown of a database. */
export type DataView = "tables" | "diagram" | "verified" | "vocabulary";
const DATA_VIEWS: readonly string[] = ["diagram", "verified", "vocabulary"] satisfies DataView[];

export function placeOf(path: string): Place {
  let parts: string[];
  try {
    parts = path.slice(path.startsWith(`${BASE}/`) ? BASE.length : 0).split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return { name: "lost" }; // not a name that anything could have
  }
  const [first, second, ...rest] = parts;
  if (first === undefined) return { name: "home" };
  if (first === "b" && second === undefined) return { name: "boards" };
  if (first === "lab" && second === undefined) return { name: "lab" };
  if (first === "activity" && second === undefined) return { name: "activity" };
  if (second !== undefined && rest.length === 0) {
    if (first === "t") return { name: "thread", threadId: second };
    if (first === "r") return { name: "run", runId: second };
    if (first === "d") return { name: "database", preset: second };
    if (first === "data") return { name: "data", preset: second, view: "tables" };
    if (first === "q") return { name: "sql", preset: second };
    if (first === "b") return { name: "board", boardId: second };
    if (first === "s") return { name: "shared", share: second };
    if (first === "k") return { name: "kept", keptId: second };
  }
  const [view] = rest;
  if (first === "data" && second !== undefined && view && rest.length === 1 && DATA_VIEWS.includes(view))
    return { name: "data", preset: second, view: view as DataView };
  return { name: "lost" };
}

export const paths = {
  home: `${BASE}/`,
  thread: (id: string) => `${BASE}/t/${encodeURIComponent(id)}`,
  run: (id: string) => `${BASE}/r/${encodeURIComponent(id)}`,
  database: (preset: string) => `${BASE}/d/${encodeURIComponent(preset)}`,
  data: (preset: string, view: DataView = "tables") =>
    `${BASE}/data/${encodeURIComponent(preset)}${view === "tables" ? "" : `/${view}`}`,
  sql: (preset: string) => `${BASE}/q/${encodeURIComponent(preset)}`,
  boards: `${BASE}/b`,
  board: (id: string) => `${BASE}/b/${encodeURIComponent(id)}`,
  shared: (share: string) => `${BASE}/s/${encodeURIComponent(share)}`,
  kept: (id: string) => `${BASE}/k/${encodeURIComponent(id)}`,
  lab: `${BASE}/lab`,
  activity: `${BASE}/activity`,
};

/** The whole address of a place, to be sent to others. */
export const address = (path: string): string => new URL(path, location.href).href;

const CHANGED = "placechange";

export function go(path: string, { replace = false } = {}): void {
  if (path === location.pathname) return;
  if (replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  window.dispatchEvent(new Event(CHANGED));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("popstate", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("popstate", listener);
    window.removeEventListener(CHANGED, listener);
  };
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname);
}

/** For the click on a link within the page; a click that wants a new tab is left to the browser. */
export function followLink(event: MouseEvent<HTMLAnchorElement>): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  go(new URL(event.currentTarget.href).pathname);
}
