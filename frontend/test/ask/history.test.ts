import { describe, expect, it } from "vitest";
import type { RunSummary } from "../../src/api/types";
import { earlierQuestions, walk } from "../../src/ask/history";

describe("earlier questions", () => {
  const run = (question: string, kind: "question" | "sql" = "question") => ({ question, kind }) as RunSummary;

  it("are each there once, the latest first, without statements typed by hand", () => {
    expect(earlierQuestions([run("b"), run("a"), run("b"), run("s", "sql")])).toEqual(["b", "a"]);
  });

  it("begin with what was just asked on this page", () => {
    expect(earlierQuestions([run("b"), run("a")], ["b", "c"])).toEqual(["c", "b", "a"]);
  });

  it("are walked with the arrows, and left again", () => {
    const history = ["newest", "older"];
    expect(walk(history, -1, 1, "")).toEqual({ place: 0, text: "newest" });
    expect(walk(history, 0, 1, "newest")).toEqual({ place: 1, text: "older" });
    expect(walk(history, 1, 1, "older")).toBeNull();
    expect(walk(history, 0, -1, "newest")).toEqual({ place: -1, text: "" });
  });

  it("leave the arrows to a text that is being written", () => {
    expect(walk(["x"], -1, 1, "half a quest")).toBeNull();
  });
});
