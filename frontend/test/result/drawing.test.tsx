/** What is drawn: nothing is cut off, and a part of it can be picked by the mouse and by the keyboard. */
import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Row } from "../../src/api/events";
import ChartView from "../../src/result/ChartView";
import { drawEndLabels, fitted, headOf, textWidth } from "../../src/result/chartFrame";
import { chooseCharts } from "../../src/result/chooseChart";
import { drawChart } from "../../src/result/drawChart";
import { type Look, lookOf } from "../../src/result/look";
import { show } from "../render";

const WIDTH = 500;
const LONG = "The Honourable Society of Extraordinarily Long Category Names and Sons";

describe("a drawing", () => {
  it("shortens long names to the room there is", () => {
    const rows: Row[] = [[LONG, 3], ["Short", 4]];
    const { svg } = drawChart(lookOf({ kind: "bar", x: 0, y: 1 }), { columns: ["name", "n"], rows }, WIDTH, "N by name");
    const names = [...svg.querySelectorAll("text")].map((text) => text.textContent ?? "").filter((text) => /^The|^Short/.test(text));
    expect(names).toEqual([expect.stringMatching(/^The Honourable.*…$/), "Short"]);
    expect(Math.max(...names.map(textWidth))).toBeLessThanOrEqual(WIDTH * 0.4);
  });

  it("says the full name where one points", () => {
    const { marks } = drawChart(lookOf({ kind: "bar", x: 0, y: 1 }), { columns: ["name", "n"], rows: [[LONG, 3], ["Short", 4]] }, WIDTH, "");
    expect([...marks.values()].map((mark) => mark.text)).toEqual([`${LONG}\nN: 3`, "Short\nN: 4"]);
  });

  it("names the thing behind a point of two measures", () => {
    const rows: Row[] = [["Pen", 1.5, 20], ["Cup", 9, 12], ["Pot", 30, 3]];
    const { marks } = drawChart(lookOf({ kind: "scatter", x: 1, y: 2 }), { columns: ["name", "price", "sold"], rows }, WIDTH, "");
    expect([...marks.values()][1]?.text).toBe("Cup\nPrice: 9.00\nSold: 12");
  });

  it("leaves room for the last tick at the right edge", () => {
    const rows: Row[] = [["a", 99_000], ["b", 12_000]];
    const { svg } = drawChart(lookOf({ kind: "bar", x: 0, y: 1, format: "currency" }), { columns: ["name", "revenue"], rows }, WIDTH, "");
    for (const text of svg.querySelectorAll("[data-mark='x-axis tick label'] text")) {
      const right = Number(/translate\(([\d.]+)/.exec(text.getAttribute("transform") ?? "")?.[1]) + textWidth(text.textContent ?? "") / 2;
      expect(right).toBeLessThanOrEqual(WIDTH);
    }
  });

  it("breaks a line where a month is missing", () => {
    const rows: Row[] = [["2025-01", 1], ["2025-02", 2], ["2025-04", 3], ["2025-05", null], ["2025-06", 3]];
    const { svg } = drawChart(lookOf({ kind: "line", x: 0, y: 1 }), { columns: ["month", "n"], rows }, WIDTH, "");
    const path = svg.querySelector("[data-mark=line] path")?.getAttribute("d") ?? "";
    expect(path.match(/M/g)).toHaveLength(3);
  });

  it("names the ends of lines without writing one on another", () => {
    const ends = [10, 12, 11, 200, 199].map((y, index) => ({ text: `s${index}`, colour: "red", x: 1, y }));
    const ys = [...drawEndLabels(ends, 90, 200).querySelectorAll("text")].map((text) => Number(text.getAttribute("y"))).toSorted((a, b) => a - b);
    for (const [index, y] of ys.slice(1).entries()) expect(y - (ys[index] ?? 0)).toBeGreaterThanOrEqual(14);
    expect(ys.at(-1)).toBeLessThanOrEqual(200);
  });

  it("puts the names of its colours into as many lines as they need", () => {
    const colours = ["one", "two", "three", "four"].map((name) => ({ name: `${name} of several`, colour: "red" }));
    const [wide, narrow] = [headOf("", colours, 900), headOf("", colours, 200)];
    expect(narrow.height).toBeGreaterThan(wide.height);
    for (const text of narrow.draw().querySelectorAll("text"))
      expect(Number(text.getAttribute("x")) + textWidth(text.textContent ?? "")).toBeLessThanOrEqual(200);
    expect(fitted("東京都新宿区", 40)).toBe("東京…");
  });
});

describe("picking", () => {
  const rows: Row[] = [["Oslo", 3, 30], ["Bergen", 5, 20], ["Moss", 1, 10]];
  const result = { runId: null, task: null, title: "", columns: ["city", "orders", "items"], rows, total: 3, truncated: false, milliseconds: 1 };

  beforeAll(() => {
    vi.stubGlobal(
      "ResizeObserver",
      class {
        constructor(private readonly seen: (entries: unknown[]) => void) {}
        observe() {
          this.seen([{ contentRect: { width: WIDTH } }]);
        }
        disconnect() {}
      },
    );
    return () => vi.stubGlobal("ResizeObserver", class { observe() {} unobserve() {} disconnect() {} });
  });

  function picking(look: Partial<Look>) {
    const onPick = vi.fn();
    const charts = chooseCharts(result.columns, rows);
    show(<ChartView result={result} charts={charts} look={lookOf({ kind: "bar", x: 0, y: 1, ...look })} onLook={() => undefined} name="" onPick={onPick} />);
    return onPick;
  }

  it("gives the row and the column behind a bar", async () => {
    const onPick = picking({ more: [2], order: "largest" });
    const bar = await screen.findByRole("button", { name: "Moss, Items: 10" });
    fireEvent.click(bar);
    expect(onPick).toHaveBeenCalledWith({ column: 2, rows: [2] }, bar);
  });

  it("gives all rows behind what was added up", async () => {
    const onPick = picking({ top: 1 });
    fireEvent.click(await screen.findByRole("button", { name: "Other (2), Orders: 4" }));
    expect(onPick.mock.calls[0]?.[0]).toEqual({ column: 1, rows: [0, 2] });
  });

  it("is reached by one step of the tabulator and the arrow keys", async () => {
    const user = userEvent.setup();
    const onPick = picking({});
    const first = await screen.findByRole("button", { name: "Oslo, Orders: 3" });
    expect(screen.getByRole("button", { name: "Bergen, Orders: 5" }).getAttribute("tabindex")).toBe("-1");
    first.focus();
    await user.keyboard("{ArrowDown}{Enter}");
    await waitFor(() => expect(onPick).toHaveBeenCalledTimes(1));
    expect(onPick.mock.calls[0]?.[0]).toEqual({ column: 1, rows: [1] });
  });
});
