/** The database that questions go to: the one chosen last, else the server's default. */
import { type QueryClient, useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { presetsQuery } from "../api/queries";
import type { Preset } from "../api/types";

const KEY = "text2sql.preset";
const CHANGED = "presetchange";

export function choosePreset(id: string): void {
  localStorage.setItem(KEY, id);
  window.dispatchEvent(new Event(CHANGED));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(CHANGED, listener);
  return () => window.removeEventListener(CHANGED, listener);
}

export function useChosenPreset(): [Preset | null, (id: string) => void] {
  const { data } = useQuery(presetsQuery);
  const chosen = useSyncExternalStore(subscribe, stored);
  return [chosenOf(data ?? [], chosen), choosePreset];
}

/** The id for a question that is asked before the list of databases has come; null leaves it to the server. */
export async function presetToAsk(client: QueryClient): Promise<string | null> {
  try {
    return chosenOf(await client.ensureQueryData(presetsQuery), stored())?.id ?? null;
  } catch {
    return stored(); // the question itself then says what is the matter
  }
}

const stored = (): string | null => localStorage.getItem(KEY);

function chosenOf(presets: readonly Preset[], id: string | null): Preset | null {
  return presets.find((p) => p.id === id) ?? presets.find((p) => p.default) ?? presets[0] ?? null;
}
