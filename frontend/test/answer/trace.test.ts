import { describe, expect, it } from "vitest";
import { originOf, pieces, type TraceSource } from "../../src/answer/trace";

const rows = [
  ["Berlin", 1234.5, 12, 0.256],
  ["Paris", 87, 3, 0.5],
];
const source: TraceSource = { rows, rowCount: 2, complete: true };
const origin = (text: string, sources = [source], question = "the top 7 of 2024") => originOf(text, sources, question);

describe("finding the numbers of a text", () => {
  const numbers = (text: string) => pieces(text).filter((piece) => piece.value !== null).map((piece) => piece.text);

  it("reads numbers as people write them", () => {
    expect(numbers("1,234.50 of 3,600, or -5, 12% and 1.2 million.")).toEqual(["1,234.50", "3,600", "-5", "12%", "1.2 million"]);
  });

  it("leaves names, dates, times and versions alone", () => {
    expect(numbers("Q4 on 2024-05-01 at 12:30 with v1.2.3, ISO9001, COVID-19 and task_1")).toEqual([]);
  });

  it("loses no text", () => {
    const text = "There are 12 of 1,234.5 (about 10%) – all told.";
    expect(pieces(text).map((piece) => piece.text).join("")).toBe(text);
  });
});

describe("where a number comes from", () => {
  it.each([
    ["1,234.50", 0, 1],
    ["1,235", 0, 1],
    ["12", 0, 2],
    ["87", 1, 1],
    ["25.6%", 0, 3],
    ["50%", 1, 3],
    ["1.2 thousand", 0, 1],
  ])("%s is a cell, as far as it is written out", (text, row, column) => {
    expect(origin(text)).toEqual({ kind: "cell", source: 0, row, column });
  });

  it("finds it in the result of whichever task has it", () => {
    expect(origin("480", [source, { rows: [[480]], rowCount: 1, complete: true }])).toMatchObject({ kind: "cell", source: 1 });
  });

  it("may be the number of rows, or a column's sum", () => {
    expect(origin("2")).toEqual({ kind: "count", source: 0 });
    expect(origin("12 rows", [{ ...source, rowCount: 12 }])).toEqual({ kind: "count", source: 0 });
    expect(origin("15")).toEqual({ kind: "sum", source: 0, column: 2 });
    expect(origin("15", [{ ...source, complete: false }])).toEqual({ kind: "none" });
  });

  it("may stand in a text of the result, if it is no number of its own there", () => {
    const named: TraceSource = { rows: [["Casserole 4.5 L", 12], ["2023-04", 3]], rowCount: 2, complete: true };
    expect(origin("4.5", [named])).toEqual({ kind: "cell", source: 0, row: 0, column: 0 });
    expect(origin("2023", [named])).toEqual({ kind: "date" });
    expect(origin("3", [named])).toEqual({ kind: "cell", source: 0, row: 1, column: 1 });
    expect(origin("5", [named])).toEqual({ kind: "none" });
  });

  it("may be the question's own", () => {
    expect(origin("7")).toEqual({ kind: "question" });
    expect(origin("2024")).toEqual({ kind: "question" });
  });

  it("is nowhere when it is made up, also when it is nearly right", () => {
    expect(origin("99")).toEqual({ kind: "none" });
    expect(origin("1,236")).toEqual({ kind: "none" });
    expect(origin("12.5")).toEqual({ kind: "none" });
  });
});
