/** What a chart draws of a result: gaps, the largest and the others, stacks, formats. */
import { describe, expect, it } from "vitest";
import type { Row } from "../../src/api/events";
import { addsUp } from "../../src/result/addsUp";
import { describeChart } from "../../src/result/describeChart";
import { lookOf } from "../../src/result/look";
import { numbersOf } from "../../src/result/numberText";
import { pointsOf } from "../../src/result/points";
import { everyStep, timeOf } from "../../src/result/timeSteps";

const ys = (found: ReturnType<typeof pointsOf>) => found.points.map(({ label, y }) => [label, y]);

describe("a series over time", () => {
  it("has a place for a month that is missing, and for one without a value", () => {
    const rows: Row[] = [["2025-01", 3], ["2025-02", null], ["2025-03", 4], ["2025-05", 5], ["2025-06", 6]];
    const result = { columns: ["month", "orders"], rows };
    const expected = [["2025-01", 3], ["2025-02", Number.NaN], ["2025-03", 4], ["2025-04", Number.NaN], ["2025-05", 5], ["2025-06", 6]];
    expect(ys(pointsOf(lookOf({ kind: "line", x: 0, y: 1 }), result))).toEqual(expected);
    expect(pointsOf(lookOf({ kind: "column", x: 0, y: 1 }), result).labels).toEqual(expected.map(([label]) => label));
  });

  it("runs from the first to the last in the order of time, whatever the order of its rows", () => {
    const rows: Row[] = [[2024, 5], [2021, 3], [2022, 4]];
    const found = pointsOf(lookOf({ kind: "line", x: 0, y: 1 }), { columns: ["order_year", "orders"], rows });
    expect(ys(found)).toEqual([["2021", 3], ["2022", 4], ["2023", Number.NaN], ["2024", 5]]);
  });

  it("shows where one of its lines has a gap", () => {
    const rows: Row[] = [["2025-01", "a", 1], ["2025-01", "b", 2], ["2025-02", "b", 2], ["2025-03", "a", 3], ["2025-03", "b", 4]];
    const found = pointsOf(lookOf({ kind: "line", x: 0, y: 2, series: 1 }), { columns: ["month", "kind", "n"], rows });
    expect(found.points.filter((point) => point.series === "a").map((point) => point.y)).toEqual([1, Number.NaN, 3]);
  });

  it.each([
    [["2025-01-05", "2025-01-12", "2025-01-26"], 4],
    [["2025-01-31", "2025-02-28", "2025-04-30"], 4],
    [["2024-01", "2024-07", "2025-01"], 3],
    [["2024-01", "2024-04", "2024-10"], 4],
    [["2025-03-01", "2025-03-02", "2025-03-04"], 4],
    [["2025-01-03", "2025-04-17", "2025-09-02"], 3],
  ])("of %j has %i steps", (texts, count) => expect(everyStep(texts.map(timeOf))).toHaveLength(count));

  it("leaves out what has no date, and says so", () => {
    const result = { columns: ["day", "n"], rows: [["2025-01-01", 1], [null, 9], ["2025-01-02", 2], ["2025-01-03", 2]] as Row[] };
    expect(describeChart(lookOf({ kind: "line", x: 0, y: 1 }), result)).toBe("N by day, without 1 row that has no date");
  });
});

describe("the largest categories", () => {
  const rows: Row[] = [["a", 5], ["b", 40], ["c", 3], ["d", 30], ["e", 2]];

  it("leave the others added up, last, with all of their rows", () => {
    const look = lookOf({ kind: "bar", x: 0, y: 1, top: 2, order: "smallest" });
    const result = { columns: ["city", "orders"], rows };
    const found = pointsOf(look, result);
    expect(found.labels).toEqual(["d", "b", "Other (3)"]);
    expect(found.points.at(-1)).toMatchObject({ label: "Other (3)", y: 10, rows: [0, 2, 4] });
    expect(describeChart(look, result)).toBe("Orders by city, the 2 largest of 5, the others added up");
  });

  it("leave the others out where they do not add up", () => {
    const look = lookOf({ kind: "bar", x: 0, y: 1, top: 2 });
    const result = { columns: ["city", "avg_price"], rows };
    expect(pointsOf(look, result).labels).toEqual(["b", "d"]);
    expect(describeChart(look, result)).toContain("the others are left out, because their values do not add up");
  });

  it("add up each measure and each series by itself", () => {
    const two: Row[] = [["a", 9, 90], ["b", 2, 20], ["c", 1, 10]];
    const found = pointsOf(lookOf({ kind: "bar", x: 0, y: 1, more: [2], top: 1 }), { columns: ["city", "orders", "items"], rows: two });
    expect(found.points.filter((point) => point.label === "Other (2)").map(({ series, y }) => [series, y])).toEqual([["Orders", 3], ["Items", 30]]);
  });
});

it.each([
  ["revenue", "SELECT city, AVG(total) AS revenue FROM orders", false],
  ["revenue", "SELECT city, ROUND(SUM(quantity * price), 2) AS revenue FROM orders", true],
  ["buyers", "SELECT city, COUNT(DISTINCT customer_id) AS buyers FROM orders", false],
  ["n", "SELECT city, AVG(n) AS n FROM (SELECT city, day, COUNT(*) AS n FROM t GROUP BY 1, 2) GROUP BY 1", false],
  ["quota", "SELECT SUM(a) / SUM(b) AS quota FROM t", false],
  ["SUM(total)", "", true],
  ["max_price", "", false],
  ["weight", "", false],
])("whether %s of “%s” adds up: %s", (column, sql, sum) => expect(addsUp(column, [1.5, 2], sql)).toBe(sum));

describe("values of a category", () => {
  const rows: Row[] = [["a", "p", 3], ["a", "q", 1], ["b", "p", 2], ["b", "q", 2]];
  const result = { columns: ["city", "status", "orders"], rows };
  const look = lookOf({ kind: "column", x: 0, y: 2, series: 1 });

  it("stand on top of each other, up to their sum", () => {
    const { points } = pointsOf({ ...look, stack: "stacked" }, result);
    expect(points.map(({ from, to }) => [from, to])).toEqual([[0, 3], [3, 4], [0, 2], [2, 4]]);
  });

  it("are shares of it", () => {
    const { points } = pointsOf({ ...look, stack: "share" }, result);
    expect(points.map(({ from, to }) => [from, to])).toEqual([[0, 0.75], [0.75, 1], [0, 0.5], [0.5, 1]]);
  });

  it("stand side by side where a sum would mean nothing", () => {
    expect(pointsOf({ ...look, stack: "stacked" }, { ...result, columns: ["city", "status", "avg_price"] }).stack).toBe("grouped");
  });

  it("are put into equal steps by a histogram, with the rows of each", () => {
    const values: Row[] = [[1], [2], [2.5], [9.5], [null]];
    const found = pointsOf(lookOf({ kind: "histogram", y: 0 }), { columns: ["weight"], rows: values });
    expect(found.points.map(({ from, to, y, rows: of }) => [from, to, y, of])).toEqual([[0, 2, 1, [0]], [2, 4, 2, [1, 2]], [8, 10, 1, [3]]]);
    expect(found.notes).toEqual(["without 1 row that has no value"]);
  });
});

it("reads a chart that was kept when there was less to choose", () => {
  const kept = { kind: "line", x: 0, y: 1, series: -1, order: "given" } as const;
  expect(pointsOf(lookOf(kept), { columns: ["month", "n"], rows: [["2025-01", 1], ["2025-02", 2]] }).points).toHaveLength(2);
});

it.each([
  [{ format: "plain" }, 1234567.891, "1,234,567.89", "1,234,567.89"],
  [{ format: "plain", decimals: 0 }, 1234.5, "1,235", "1,235"],
  [{ format: "compact" }, 1_234_567, "1.2M", "1.2M"],
  [{ format: "percent" }, 0.256, "25.6%", "25.6%"],
  [{ format: "percent" }, 25.6, "25.6%", "25.6%"],
  [{ format: "currency", currency: "EUR" }, 1500, "€1,500", "€1,500"],
  [{ format: "currency", currency: "USD", decimals: 1 }, 250_000.5, "$250,000.5", "$250.0K"],
  [{}, 250_000, "250,000", "250K"],
] as const)("a number as %j: %d", (look, value, full, short) => {
  const numbers = numbersOf(lookOf({ kind: "bar", ...look }), undefined, [value]);
  expect([numbers.full(value), numbers.short(value)]).toEqual([full, short]);
});
