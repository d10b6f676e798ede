import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { BigNumber } from "../../src/result/BigNumber";
import { lookOf } from "../../src/result/look";
import { ResultTable } from "../../src/result/ResultTable";
import { resultsOf } from "../../src/result/results";
import { serve, show } from "../render";
import { recorded, stateAfter } from "../streams";

function result(units: string[]) {
  const state = stateAfter(recorded("rows"));
  const attempts = state.attempts.map((attempt) => ({ ...attempt, units }));
  const found = resultsOf({ ...state, attempts })[0];
  if (!found) throw new Error("the recording has a result");
  return found;
}

describe("units of a semantic model", () => {
  it("stand under the names of their columns", () => {
    serve({});
    const first = result([]).columns.length - 1;
    const units = [...Array<string>(first).fill(""), "EUR"];
    show(<ResultTable result={{ ...result(units), runId: null }} />);
    expect(screen.getAllByRole("columnheader").at(-1)?.textContent).toContain("EUR");
  });

  it("stand beside a single figure", () => {
    const single = { columns: ["margin"], rows: [[12.5]], units: ["percent"] };
    const { container } = show(<BigNumber look={lookOf({ kind: "number", y: 0 })} result={single} />);
    expect(container.textContent).toBe("12.5%");
  });
});
