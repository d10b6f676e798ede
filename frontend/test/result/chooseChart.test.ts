import { describe, expect, it } from "vitest";
import type { Row } from "../../src/api/events";
import { barLabels, chooseCharts, preferred } from "../../src/result/chooseChart";
import { columnFormats } from "../../src/result/columnKinds";

const kinds = (columns: string[], rows: Row[]) => chooseCharts(columns, rows).map((chart) => chart.kind);

describe("the chart that a result's shape wants", () => {
  it("is a number for one value", () => {
    expect(kinds(["n"], [[480]])).toEqual(["number"]);
    expect(kinds(["name", "n"], [["London", 19]])).toEqual(["number"]);
  });

  it("is bars for a measure by category", () => {
    expect(kinds(["city", "n"], [["London", 19], ["Leipzig", 18]])).toEqual(["bar", "column"]);
  });

  it("is a line over time, then an area, and bars as the last choice", () => {
    expect(kinds(["month", "n"], [["2025-01", 3], ["2025-02", 5], ["2025-03", 4]])).toEqual(["line", "area", "bar", "column", "trend"]);
    expect(kinds(["order_year", "n"], [[2023, 3], [2024, 5]])[0]).toBe("line");
  });

  it("is a line for each of a few series", () => {
    const rows: Row[] = [["2025-01", "a", 1], ["2025-01", "b", 2], ["2025-02", "a", 3], ["2025-02", "b", 4]];
    expect(chooseCharts(["month", "kind", "n"], rows)[0]).toEqual({ kind: "line", x: 0, y: 2, series: 1 });
  });

  it("is a scatter for two measures of many things", () => {
    const rows: Row[] = Array.from({ length: 60 }, (_, i) => [`p${i}`, i * 1.5, i * i]);
    expect(kinds(["name", "price", "weight"], rows)[0]).toBe("scatter");
  });

  it("is a map for a measure over two categories", () => {
    const rows: Row[] = ["a", "b", "c"].flatMap((x) => ["p", "q"].map((y): Row => [x, y, 1.5]));
    expect(kinds(["city", "status", "n"], rows)).toContain("heatmap");
  });

  it("is none where there is no measure: names, ids and years are none", () => {
    expect(kinds(["name"], [["a"], ["b"]])).toEqual([]);
    expect(kinds(["customer_id", "name"], [[1, "a"], [2, "b"]])).toEqual([]);
    expect(kinds(["a"], [])).toEqual([]);
  });

  it("is the largest bars where there are more than can be read", () => {
    const [bars] = chooseCharts(["name", "n"], Array.from({ length: 41 }, (_, i): Row => [`p${i}`, i]));
    expect(bars).toMatchObject({ kind: "bar", top: 25, order: "largest" });
  });

  it("is bars side by side for measures that can share an axis", () => {
    const rows: Row[] = [["a", 10, 20, 9000], ["b", 30, 15, 8000], ["c", 12, 11, 9500]];
    expect(chooseCharts(["city", "orders", "returns", "visits"], rows)[0]).toMatchObject({ kind: "bar", y: 1, more: [2] });
  });

  it("is stacked for sums over two categories, and side by side for averages", () => {
    const rows: Row[] = ["a", "b", "c"].flatMap((x) => ["p", "q"].map((y): Row => [x, y, 3.5]));
    const stack = (name: string) => chooseCharts(["city", "status", name], rows).find((chart) => chart.kind === "bar")?.stack;
    expect([stack("total_amount"), stack("avg_price")]).toEqual(["stacked", "grouped"]);
  });

  it("is a histogram for many values of one column, if all of them are here", () => {
    const rows: Row[] = Array.from({ length: 60 }, (_, i) => [i * 1.5]);
    expect(kinds(["weight"], rows)).toEqual(["histogram"]);
    expect(chooseCharts(["weight"], rows, { whole: false })).toEqual([]);
  });

  it("names bars by the whole name, and keeps two of the same name apart", () => {
    const columns = ["first_name", "last_name", "total"];
    const rows: Row[] = [["Ann", "Lee", 3.5], ["Bob", "Kay", 2.5], ["Ann", "Lee", 1.5], ["Cy", "Fox", 1.2]];
    const [chart] = chooseCharts(columns, rows);
    expect(chart && barLabels(rows, chart, columnFormats(columns, rows))).toEqual(["Ann Lee", "Bob Kay", "Ann Lee (2)", "Cy Fox"]);
  });

  it("comes first where it was asked for and fits; a pie is drawn as bars", () => {
    const charts = chooseCharts(["city", "orders"], [["Oslo", 3], ["Bergen", 5], ["Moss", 1]]);
    expect(preferred(charts, "column")[0]?.kind).toBe("column");
    expect(preferred(charts, "pie")[0]?.kind).toBe("bar");
    expect(preferred(charts, "line")).toEqual(charts);
  });
});
