import { describe, expect, it } from "vitest";
import type { Answer } from "../../src/api/events";
import { sureness, weighed } from "../../src/answer/sureness";
import { recorded, stateAfter } from "../streams";

const answer = stateAfter(recorded("rows")).answer as Answer;

describe("how sure an answer is", () => {
  it("says it in the server's words", () => {
    const verdict = "Very likely right. About 9 in 10 such answers are right.";
    expect(sureness({ ...answer, status: "success", confidence: 0.87, verdict })).toEqual({
      tone: "sure",
      probability: 0.87,
      line: verdict,
    });
  });

  it("sounds doubtful of a doubtful answer, of an old one without the server's words too", () => {
    const doubtful = { ...answer, status: "doubtful" as const, confidence: 0.4 };
    expect(sureness({ ...doubtful, verdict: "Doubtful: no rows came back." }).tone).toBe("doubt");
    expect(sureness({ ...doubtful, verdict: undefined })).toMatchObject({ tone: "doubt", line: "Doubtful." });
  });

  it("puts the weightiest evidence first, whichever way it points", () => {
    const list = [0.1, -2, 1].map((weight) => ({ name: String(weight), supports: weight > 0, weight, text: "" }));
    expect(weighed(list).map((item) => item.weight)).toEqual([-2, 1, 0.1]);
  });
});
