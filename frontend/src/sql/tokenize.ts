/** SQL cut into coloured pieces. Not a parser: enough for reading, the same for every dialect, never failing. */

export type TokenKind = "keyword" | "function" | "name" | "string" | "number" | "operator" | "comment" | "space";

export interface Token {
  kind: TokenKind;
  text: string;
}

const KEYWORDS = new Set(
  `all and any as asc between by case cast cross current_date current_timestamp date desc distinct else end except
  exists extract false fetch filter first following for from full group having ilike in inner intersect interval is
  join last lateral left like limit natural not null nulls offset on or order outer over partition preceding qualify
  range recursive right rollup row rows select set some table then timestamp true unbounded union unique unnest using
  values when where window with within`.split(/\s+/),
);

const PATTERN =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>'(?:[^']|'')*(?:'|$))|(?<quoted>"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]\n]*\])|(?<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(?<word>[\p{L}_][\p{L}\p{N}_$]*)|(?<space>\s+)|(?<operator>[<>!=|]{1,2}|::|.)/giu;

export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  for (const match of sql.matchAll(PATTERN)) {
    const text = match[0];
    tokens.push({ kind: kindOf(match.groups ?? {}, sql, match.index + text.length), text });
  }
  return tokens;
}

function kindOf(groups: Record<string, string | undefined>, sql: string, end: number): TokenKind {
  if (groups["comment"] !== undefined) return "comment";
  if (groups["string"] !== undefined) return "string";
  if (groups["quoted"] !== undefined) return "name";
  if (groups["number"] !== undefined) return "number";
  if (groups["space"] !== undefined) return "space";
  const word = groups["word"];
  if (word === undefined) return "operator";
  if (KEYWORDS.has(word.toLowerCase())) return "keyword";
  return /^\s*\(/.test(sql.slice(end, end + 8)) ? "function" : "name";
}

export interface Line {
  /** Blanks before the first word. */
  indent: number;
  /** Without the blanks before and the break behind. */
  tokens: Token[];
}

export function linesOf(tokens: readonly Token[]): Line[] {
  const lines: Token[][] = [[]];
  for (const token of tokens)
    for (const [index, text] of token.text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ kind: token.kind, text });
    }
  return lines.map((line) => {
    const [first, ...rest] = line;
    return first?.kind === "space" ? { indent: first.text.length, tokens: rest } : { indent: 0, tokens: line };
  });
}
