import { describe, expect, it } from "vitest";
import type { SchemaTable } from "../../src/api/types";
import { completions, datesOf, figuresOf, wordsOf } from "../../src/vocabulary/places";

const column = (name: string, type: string, more = {}) => ({ name, type, primary_key: false, foreign_key: null, nullable: true, ...more });
const LOTS: SchemaTable = {
  name: "lots",
  row_count: 40,
  columns: [
    column("lot_id", "INTEGER", { primary_key: true }),
    column("bidder_id", "INTEGER", { foreign_key: "bidders.bidder_id" }),
    column("estimate", "REAL"),
    column("sold_on", "DATE"),
    column("entered", "TEXT"),
  ],
};

describe("what may follow what is typed", () => {
  it.each([
    ["word", "lo", ["lots", "lots.lot_id"]],
    ["word", "lots.est", ["lots.estimate"]],
    ["word", "lots.estimate > 5 AND sold", ["lots.estimate > 5 AND lots.sold_on"]],
    ["word", "lots.estimate > ", []],
    ["measure", "", ["SUM(lots.estimate)"]],
    ["measure", "AVG(esti", ["AVG(lots.estimate"]],
  ] as const)("%s %s", (kind, text, offered) => {
    expect(completions(text, kind, [LOTS]).slice(0, 2)).toEqual(offered);
  });
});

it("dates are known by their type or by how they are written, figures by what they are not", () => {
  const written = { table: "lots", column: "entered", kind: "text", nulls: 0, low: null, high: null, mean: null, formats: [{ name: "date", share: 1, example: "" }] };
  expect(datesOf(LOTS)).toEqual(["lots.sold_on"]);
  expect(datesOf(LOTS, [written])).toEqual(["lots.sold_on", "lots.entered"]);
  expect(figuresOf(LOTS)).toEqual(["lots.estimate"]);
});

it("the words of a question are those that carry meaning", () => {
  expect(wordsOf("How many late lots were sold in May 2024, and late lots?")).toEqual(["late", "lots", "sold", "May"]);
});
