import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { Composer } from "../../src/ask/Composer";
import { serve, show } from "../render";

function composer(running = false) {
  const onAsk = vi.fn();
  const onStop = vi.fn();
  const calls = serve({ "/runs": { runs: [{ question: "newest", kind: "question" }, { question: "older", kind: "question" }], next: null } });
  show(<Composer label="Your question" placeholder="Ask" running={running} onAsk={onAsk} onStop={onStop} />);
  return { field: screen.getByLabelText<HTMLTextAreaElement>("Your question"), onAsk, onStop, calls };
}

describe("the question field", () => {
  it("asks with Enter, and breaks the line with Shift-Enter", async () => {
    const { field, onAsk } = composer();
    await userEvent.type(field, "How many{Shift>}{Enter}{/Shift}orders?{Enter}");
    expect(onAsk).toHaveBeenCalledExactlyOnceWith("How many\norders?");
    expect(field.value).toBe("");
  });

  it("asks nothing when there is nothing but blanks", async () => {
    const { field, onAsk } = composer();
    await userEvent.type(field, "   {Enter}");
    expect(onAsk).not.toHaveBeenCalled();
    expect(screen.getByRole("button", { name: "Ask" })).toHaveProperty("disabled", true);
  });

  it("walks through earlier questions with the arrows", async () => {
    const { field, calls } = composer();
    await waitFor(() => expect(calls.length).toBeGreaterThan(0));
    await userEvent.click(field);
    await waitFor(async () => {
      await userEvent.keyboard("{ArrowUp}");
      expect(field.value).not.toBe("");
    });
    await userEvent.keyboard("{ArrowUp}{ArrowUp}");
    expect(field.value).toBe("older");
    await userEvent.keyboard("{ArrowDown}{ArrowDown}");
    expect(field.value).toBe("");
  });

  it("stops with Escape while something runs, and does not ask a second time", async () => {
    const { field, onAsk, onStop } = composer(true);
    await userEvent.type(field, "next{Enter}");
    expect(onAsk).not.toHaveBeenCalled();
    await userEvent.keyboard("{Escape}");
    expect(onStop).toHaveBeenCalledOnce();
  });
});
