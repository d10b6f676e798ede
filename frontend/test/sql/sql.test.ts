import { describe, expect, it } from "vitest";
import { changesAround } from "../../src/sql/difference";
import { formatSql } from "../../src/sql/format";
import { linesOf, tokenize } from "../../src/sql/tokenize";

const text = (tokens: { text: string }[]) => tokens.map((token) => token.text).join("");

describe("colouring SQL", () => {
  it("tells keywords, functions, names, strings and numbers apart", () => {
    const tokens = tokenize(`SELECT count(*), "Total" FROM t WHERE a >= 1.5 AND b = 'it''s' -- why`);
    expect(tokens.filter((t) => t.kind !== "space").map((t) => `${t.kind}:${t.text}`)).toEqual([
      "keyword:SELECT", "function:count", "operator:(", "operator:*", "operator:)", "operator:,", `name:"Total"`,
      "keyword:FROM", "name:t", "keyword:WHERE", "name:a", "operator:>=", "number:1.5", "keyword:AND", "name:b",
      "operator:=", "string:'it''s'", "comment:-- why",
    ]);
  });

  it.each(["", "'open", "/* open", "select ñame from täble", "\u0000;;", "a".repeat(20_000)])("loses nothing of %j", (sql) => {
    expect(text(tokenize(sql))).toBe(sql);
  });

  it("keeps how far each line is indented", () => {
    expect(linesOf(tokenize("SELECT\n  a,\n  b")).map((line) => [line.indent, text(line.tokens)])).toEqual([
      [0, "SELECT"],
      [2, "a,"],
      [2, "b"],
    ]);
  });
});

describe("what changed between two statements", () => {
  const of = (which: "added" | "removed", parts: ReturnType<typeof changesAround>) =>
    parts.filter((part) => part[which]).map((part) => text(part.tokens));

  it("marks in each what the other lacks, not the layout", () => {
    const [first, second] = ["select town from customers", "SELECT city\nFROM customers WHERE 1"];
    expect(of("removed", changesAround(null, first, second))).toEqual(["town"]);
    expect(of("added", changesAround(first, second, null))).toEqual(["city", "WHERE 1"]);
  });

  it("marks what came and went again with both", () => {
    const parts = changesAround("SELECT a FROM t", "SELECT b FROM t", "SELECT c FROM t");
    expect(parts.filter((part) => part.added && part.removed).map((part) => text(part.tokens))).toEqual(["b"]);
    expect(text(parts.flatMap((part) => part.tokens))).toBe("SELECT b FROM t");
  });
});

describe("laying SQL out", () => {
  it("puts each part on a line of its own", async () => {
    expect(await formatSql("select a, count(*) from t group by a", "sqlite")).toBe(
      "SELECT\n  a,\n  count(*)\nFROM\n  t\nGROUP BY\n  a",
    );
  });

  it.each([
    ["clickhouse", "select map['a'] from t prewhere b = 1", "PREWHERE"],
    ["spark", "select `my col` from t lateral view explode(a) e as x", "LATERAL VIEW"],
  ])("knows the words of %s", async (dialect, sql, word) => {
    expect(await formatSql(sql, dialect)).toContain(word);
  });

  it("shows what it cannot read as it is", async () => {
    expect(await formatSql("SELECT ((( 'x", "sqlite")).toBe("SELECT ((( 'x");
  });
});
