/** Renders a component as the page does, with a server that answers by path. */
import { QueryClientProvider } from "@tanstack/react-query";
import { render, type RenderResult } from "@testing-library/react";
import type { ReactElement } from "react";
import { vi } from "vitest";
import { makeQueryClient } from "../src/api/queries";

type Answers = Record<string, unknown>;

/** Requests by path, without what stands behind `?`; what has no answer is 404. A function is given the body. */
export function serve(answers: Answers): { path: string; body: unknown }[] {
  const calls: { path: string; body: unknown }[] = [];
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    const body = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
    calls.push({ path, body });
    const known = answers[path.split("?")[0] ?? ""];
    const answer = typeof known === "function" ? await known(body) : known;
    if (answer instanceof Response) return answer.clone();
    if (answer instanceof Error) throw answer;
    if (answer === undefined) return Response.json({ error: { kind: "not_found", message: "Not here." } }, { status: 404 });
    return Response.json(answer);
  });
  return calls;
}

export function show(element: ReactElement): RenderResult {
  const client = makeQueryClient();
  return render(element, {
    wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>,
  });
}
