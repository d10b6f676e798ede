import { describe, expect, it } from "vitest";
import type { Answer } from "../../src/api/events";
import { inTen, sureness, weighed } from "../../src/answer/sureness";
import { recorded, stateAfter } from "../streams";

const answer = stateAfter(recorded("rows")).answer as Answer;

describe("how sure an answer is", () => {
  it("says in plain words how often such answers are right", () => {
    expect(sureness({ ...answer, status: "success", confidence: 0.87 })).toEqual({
      tone: "sure",
      probability: 0.87,
      line: "Very likely right. About 9 in 10 such answers are right.",
    });
  });

  it("gives the first doubt of a doubtful answer", () => {
    const doubtful = { ...answer, status: "doubtful" as const, confidence: 0.4, doubts: ["No rows came back."] };
    expect(sureness(doubtful)).toMatchObject({
      tone: "doubt",
      line: "Doubtful: no rows came back. About 4 in 10 such answers are right.",
    });
  });

  it("does not sound sure of a figure below six in ten", () => {
    expect(sureness({ ...answer, status: "success", confidence: 0.55 }).tone).toBe("doubt");
  });

  it("claims no figure where none is known", () => {
    expect(sureness({ ...answer, status: "success", confidence: null }).line).toBe("Passed every check.");
  });

  it.each([
    [0.97, "About 19 in 20"],
    [0.93, "About 9 in 10"],
    [0.5, "About 5 in 10"],
    [0.01, "Fewer than 1 in 10"],
  ])("writes %d as %s", (probability, words) => expect(inTen(probability)).toBe(words));

  it("puts the weightiest evidence first, whichever way it points", () => {
    const list = [0.1, -2, 1].map((weight) => ({ name: String(weight), supports: weight > 0, weight, text: "" }));
    expect(weighed(list).map((item) => item.weight)).toEqual([-2, 1, 0.1]);
  });
});
