import { describe, expect, it } from "vitest";
import { asTabbed } from "../../src/result/asTabbed";
import { cellText, columnFormats, columnKind, knownKind } from "../../src/result/columnKinds";
import { readFilter } from "../../src/result/filters";

describe("the kind of a column", () => {
  it.each([
    [[1, null, 2.5], "number"],
    [["a", null], "text"],
    [["2025-01-31", null], "date"],
    [["2025-01-31 10:00:00"], "date"],
    [["2025-01"], "date"],
    [["20250131"], "text"],
    [[true, false], "boolean"],
    [[null, null], "empty"],
    [[1, "a"], "text"],
  ] as const)("of %j is %s", (values, kind) => expect(columnKind([...values])).toBe(kind));

  it("is taken from the server where it knows", () => {
    expect([knownKind("number"), knownKind("datetime"), knownKind("mixed"), knownKind("empty")]).toEqual([
      "number",
      "date",
      "text",
      "empty",
    ]);
  });
});

describe("writing a cell", () => {
  const [price, id] = columnFormats(["price", "customer_id"], [[2298.5, 10234], [2962.75, 10235]]);

  it("gives a column's numbers the same decimals, so that they line up", () => {
    expect([cellText(2298.5, price), cellText(7, price)]).toEqual(["2,298.50", "7.00"]);
  });

  it("does not group ids and years in thousands", () => expect(cellText(10234, id)).toBe("10234"));

  it("keeps NULL, empty text and false apart", () => {
    expect([cellText(null), cellText(""), cellText(false)]).toEqual(["NULL", "", "false"]);
  });
});

describe("what is typed above a column", () => {
  it.each([
    ["ber", "contains", "ber"],
    [">= 10", ">=", "10"],
    ["!=x", "!=", "x"],
    ["=Berlin", "=", "Berlin"],
    ["null", "is null", ""],
    ["not null", "not null", ""],
  ])("%s becomes %s", (typed, operator, value) => expect(readFilter(3, typed)).toEqual({ column: 3, operator, value }));

  it("is no filter while it is incomplete", () => {
    expect([readFilter(0, " "), readFilter(0, ">")]).toEqual([null, null]);
  });
});

it("copies a table that a spreadsheet reads, whatever its cells hold", () => {
  expect(asTabbed(["a", "b"], [["x\ty", null], ["line\nbreak", 1.5]])).toBe("a\tb\nx y\t\nline break\t1.5");
});
