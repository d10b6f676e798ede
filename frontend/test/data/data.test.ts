import { describe, expect, it } from "vitest";
import type { SchemaColumn, SchemaTable } from "../../src/api/types";
import { factsOf, worthKnowing } from "../../src/data/facts";
import { layout } from "../../src/data/layout";
import { matching } from "../../src/data/search";
import { placeOf } from "../../src/shell/router";

const column = (name: string, foreign: string | null = null, key = false): SchemaColumn => ({
  name, type: "INTEGER", primary_key: key, foreign_key: foreign, nullable: true, comment: null,
});
const tables: SchemaTable[] = [
  { name: "orders", row_count: 9, comment: "what was bought", columns: [column("order_id", null, true), column("customer_id", "customers.customer_id")] },
  { name: "customers", row_count: 3, columns: [column("customer_id", null, true), column("parent_id", "customers.customer_id")] },
  { name: "log", row_count: null, columns: [column("ref", "elsewhere.id")] },
];

describe("searching the schema", () => {
  const found = (text: string) => matching(tables, text).map((table) => table.name);

  it("looks at tables, columns and comments, and wants every word", () => {
    expect(found("CUSTOMER")).toEqual(["orders", "customers"]);
    expect(found("bought")).toEqual(["orders"]);
    expect(found("order parent")).toEqual([]);
    expect(found("")).toEqual(["orders", "customers", "log"]);
  });
});

describe("the diagram", () => {
  it("joins the column that points to the one pointed to, and no table lies on another", () => {
    const { boxes, edges } = layout(tables, false);
    expect(edges.map((e) => [e.from, e.column, e.to])).toContainEqual(["orders", "customer_id", "customers"]);
    const [a, b] = boxes;
    expect(a && b && (a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y)).toBe(true);
  });

  it("leaves out a link to a table that is not there", () => {
    expect(layout(tables, true).edges.map((edge) => edge.from)).toEqual(["orders", "customers"]);
  });

  it("leads a link of a table to itself out and in on the same side", () => {
    const { boxes, edges } = layout(tables, false);
    const own = edges.find((edge) => edge.from === edge.to);
    const box = boxes.find((each) => each.table.name === "customers");
    expect(own?.column).toBe("parent_id");
    expect(own?.points.map((point) => point.x)).toEqual([box && box.x + box.width, box && box.x + box.width]);
  });
});

describe("what is known of the rows", () => {
  const facts = { table: "orders", kind: "number", nulls: 3, low: "4.5", high: "149", mean: 26.5523, formats: [] };

  it("gives a measure its range and mean, and a key neither", () => {
    expect(factsOf({ ...facts, column: "price" }, column("price"))).toEqual(["4.5 to 149", "mean 26.6", "3 NULL"]);
    expect(factsOf({ ...facts, column: "order_id", nulls: 0 }, column("order_id", null, true))).toEqual([]);
  });

  it("names a format that nearly all values have", () => {
    const mail = (share: number) => [{ name: "e-mail address", share, example: "a@b.example" }];
    const text = { ...facts, column: "mail", low: null, high: null, mean: null, nulls: 0 };
    expect(factsOf({ ...text, formats: mail(1) }, column("mail"))).toEqual(["e-mail address"]);
    expect(factsOf({ ...text, formats: mail(0.4) }, column("mail"))).toEqual([]);
  });

  it("tells what is worth knowing of one table", () => {
    const profile = {
      columns: [], complete: true,
      patterns: [{ table: "orders", text: "shipped after it was ordered" }],
      guidance: [{ table: "orders", column: "price", text: "3 NULLs" }, { table: "", column: "name", text: "qualify it" }],
    };
    expect(worthKnowing(profile, "orders")).toEqual(["shipped after it was ordered", "price: 3 NULLs"]);
  });
});

describe("addresses", () => {
  it.each([
    ["/", { name: "home" }],
    ["/t/a%2Fb", { name: "thread", threadId: "a/b" }],
    ["/r/1", { name: "run", runId: "1" }],
    ["/data/shop", { name: "data", preset: "shop", view: "tables" }],
    ["/data/shop/vocabulary", { name: "data", preset: "shop", view: "vocabulary" }],
    ["/data/shop/tables/1", { name: "lost" }],
    ["/d/my%20files", { name: "database", preset: "my files" }],
    ["/d", { name: "lost" }],
    ["/t/1/2", { name: "lost" }],
    ["/%E0%A4%A", { name: "lost" }],
  ])("%s", (path, place) => expect(placeOf(path)).toEqual(place));
});
