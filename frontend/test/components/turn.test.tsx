import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { RunEvent } from "../../src/api/events";
import { Turn } from "../../src/threads/Turn";
import { serve, show } from "../render";
import { type Recording, recorded, stateAfter } from "../streams";

function turn(recording: Recording, until?: (event: RunEvent) => boolean) {
  serve({});
  const onAsk = vi.fn();
  const onStop = vi.fn();
  const onAgain = vi.fn();
  show(<Turn run={stateAfter(recorded(recording), until)} latest onAsk={onAsk} onStop={onStop} onAgain={onAgain} />);
  return { onAsk, onStop, onAgain };
}

describe("a question under way", () => {
  it("shows what is being done, and can be stopped", async () => {
    const { onStop } = turn("retried", (e) => e.event === "retry");
    expect(screen.getByText("A name does not exist, so it was tried again")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Stop" }));
    expect(onStop).toHaveBeenCalledOnce();
  });

  it("shows how much the model has written, outside of what is read out", () => {
    const writes = (e: RunEvent) => e.event === "node" && e.node === "query_generator" && e.status === "running";
    const before = recorded("rows");
    const events = before.slice(0, before.findIndex(writes) + 1);
    const progress: RunEvent = { event: "progress", data: { node: "query_generator", tokens: 1084 } };
    const other = vi.fn();
    show(<Turn run={stateAfter([...events, progress])} latest onAsk={other} onStop={other} onAgain={other} />);
    expect(screen.getByText("1,084 tokens")).toBeTruthy();
    expect(screen.getByRole("status").textContent).toBe("Writing SQL");
  });

  it("tells the steps one after the other with their times", () => {
    turn("two-tasks", (e) => e.event === "node" && e.node === "planner" && e.status === "done");
    const steps = within(screen.getByRole("group", { name: "Steps" })).getAllByRole("listitem");
    expect(steps.map((step) => step.textContent)).toEqual([
      expect.stringMatching(/^Read the database<1 ms$/),
      expect.stringMatching(/^Planned\d+ ms$/),
    ]);
  });
});

describe("an answered question", () => {
  it("says how sure it is in one line, and why when asked", async () => {
    turn("rows");
    expect(screen.getByText(/Doubtful|right\./)).toBeTruthy();
    expect(screen.queryByText("Evidence")).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Why?" }));
    const evidence = within(screen.getByRole("group", { name: "Evidence" })).getAllByRole("listitem");
    expect(evidence.length).toBeGreaterThan(2);
    expect(within(screen.getByRole("group", { name: "Dimensions" })).getAllByRole("definition")).toHaveLength(7);
  });

  it("underlines a number that is in the result as a way to its cell", async () => {
    turn("retried");
    const traced = await screen.findByRole("button", { name: "19" });
    expect(traced.getAttribute("title")).toBe("From row 1, customers");
  });

  it("names the tasks of its plan with what they need", () => {
    turn("two-tasks");
    const tasks = within(screen.getByRole("group", { name: "Plan" })).getAllByRole("listitem");
    expect(tasks.map((task) => task.textContent)).toEqual(["1count the customersdone", "2count the ordersdone, needs 1"]);
  });
});

describe("a question without an answer", () => {
  it("says what went wrong and what to do", async () => {
    const { onAgain } = turn("failed");
    const failure = screen.getByRole("alert");
    expect(failure.textContent).toContain("There is no table nowhere");
    expect(within(failure).getByRole("button", { name: "Mend the SQL" })).toBeTruthy();
    await userEvent.click(within(failure).getByRole("button", { name: "Ask again" }));
    expect(onAgain).toHaveBeenCalledOnce();
    expect(screen.queryByRole("button", { name: "Right" })).toBeNull();
  });

  it("offers what can be asked instead", async () => {
    const { onAsk } = turn("declined");
    await userEvent.click(screen.getByRole("button", { name: "How many reviews are there?" }));
    expect(onAsk).toHaveBeenCalledExactlyOnceWith("How many reviews are there?");
  });
});
