import { screen, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import AttemptsCompare from "../../src/attempts/AttemptsCompare";
import { serve, show } from "../render";
import { recorded, stateAfter } from "../streams";

describe("attempts side by side", () => {
  it("tells a candidate that was outdone from one that was sent back", async () => {
    serve({});
    const run = stateAfter(recorded("retried"));
    const [first, second] = run.attempts;
    if (!first || !second) throw new Error("the recording has two attempts");
    const candidates = [
      { ...first, retry_category: null, agreeing: [1, 4] as [number, number] },
      { ...second, replaces: [first.attempt], agreeing: [3, 4] as [number, number], verified: true },
    ];
    show(<AttemptsCompare run={{ ...run, attempts: candidates, retries: [] }} onClose={vi.fn()} />);

    const cards = await screen.findAllByRole("listitem");
    const [outdone, chosen] = cards.map((card) => within(card));
    expect(outdone?.getByText("Attempt 2 was preferred to it.")).toBeTruthy();
    expect(outdone?.getByText("1 of 4 candidates came to this result.")).toBeTruthy();
    expect(outdone?.queryByText(/tried again/)).toBeNull();
    expect(chosen?.getByText("3 of 4 candidates came to this result.")).toBeTruthy();
    expect(chosen?.getByText("The model looked at the rows and accepted them.")).toBeTruthy();
  });

  it("says how likely each is in the server's words, and shows no score", () => {
    serve({});
    const run = stateAfter(recorded("retried"));
    const attempts = run.attempts.map((one) => ({ ...one, verdict: "held back, about 3 in 10 right" }));
    show(<AttemptsCompare run={{ ...run, attempts }} onClose={vi.fn()} />);

    expect(screen.getAllByText("Held back, about 3 in 10 right.")).toHaveLength(1);
    expect(screen.queryByText(/score/i)).toBeNull();
    for (const one of attempts) expect(screen.queryByText(one.score.toFixed(2))).toBeNull();
  });

  it("says nothing of candidates where there were none", () => {
    serve({});
    show(<AttemptsCompare run={stateAfter(recorded("retried"))} onClose={vi.fn()} />);

    expect(screen.getByText(/A name does not exist, so it was tried again/)).toBeTruthy();
    expect(screen.queryByText(/candidates|looked at the rows|preferred/)).toBeNull();
  });
});
