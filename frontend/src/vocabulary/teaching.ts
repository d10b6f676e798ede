/** Keeps a term, and what the page knows of a database's terms up to date. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post, remove } from "../api/client";
import type { Teaching } from "../api/events";
import type { TaughtTerm, TermRequest } from "../api/types";

export function useTeach(preset: string, onTaught?: (term: TaughtTerm) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (taught: Teaching) => post<TaughtTerm>("/terms", { ...taught, preset } satisfies TermRequest),
    scope: { id: `terms-${preset}` }, // one after the other: the last that was chosen holds
    onSuccess: (term) => {
      onTaught?.(term);
      return client.invalidateQueries({ queryKey: ["terms", preset] });
    },
  });
}

/** Forgets a term that holds, and restores one that was forgotten. */
export function useTakeBack(preset: string, onDone?: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ term_id, forgotten }: Pick<TaughtTerm, "term_id" | "forgotten">) => {
      const path = `/terms/${encodeURIComponent(term_id)}`;
      await (forgotten === null ? remove(path) : post(`${path}/restore`));
    },
    scope: { id: `terms-${preset}` },
    onSuccess: () => {
      onDone?.();
      return client.invalidateQueries({ queryKey: ["terms", preset] });
    },
  });
}
