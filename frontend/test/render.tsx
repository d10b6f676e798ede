/** Renders a component as the page does, with a server that answers by path. */
import { QueryClientProvider } from "@tanstack/react-query";
import { render, type RenderResult } from "@testing-library/react";
import type { ReactElement } from "react";
import { vi } from "vitest";
import { makeQueryClient } from "../src/api/queries";

type Answers = Record<string, unknown>;

/** Requests by path, without what stands behind `?`; what has no answer is 404. */
export function serve(answers: Answers): { path: string; body: unknown }[] {
  const calls: { path: string; body: unknown }[] = [];
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    calls.push({ path, body: init?.body ? JSON.parse(String(init.body)) : undefined });
    const answer = answers[path.split("?")[0] ?? ""];
    if (answer instanceof Response) return answer.clone();
    if (answer instanceof Error) throw answer;
    if (answer === undefined) return Response.json({ error: { kind: "not_found", message: "Not here." } }, { status: 404 });
    return Response.json(answer);
  });
  return calls;
}

export function show(element: ReactElement): RenderResult {
  return render(<QueryClientProvider client={makeQueryClient()}>{element}</QueryClientProvider>);
}
