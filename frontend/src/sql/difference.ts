/** What changed between the statements of one attempt after the other, token by token; layout doesn't count. */
import { diffArrays } from "diff";
import { type Token, tokenize } from "./tokenize";

export interface Part {
  tokens: Token[];
  /** Not in the statement before. */
  added: boolean;
  /** No longer in the statement after. */
  removed: boolean;
}

/** A statement in parts, marked by what its neighbours lack; null where there is no neighbour. */
export function changesAround(before: string | null, sql: string, after: string | null): Part[] {
  const tokens = tokenize(sql);
  const added = lacking(before, tokens);
  const removed = lacking(after, tokens);
  const parts: Part[] = [];
  for (const [index, token] of tokens.entries()) {
    const marks = { added: marked(tokens, added, index), removed: marked(tokens, removed, index) };
    const last = parts.at(-1);
    if (last && last.added === marks.added && last.removed === marks.removed) last.tokens.push(token);
    else parts.push({ tokens: [token], ...marks });
  }
  return parts;
}

/** For each token, whether the other statement lacks it. */
function lacking(other: string | null, tokens: readonly Token[]): boolean[] {
  if (other === null) return tokens.map(() => false);
  const parts = diffArrays(tokenize(other), [...tokens], { comparator: sameToken });
  return parts.filter((part) => !part.removed).flatMap((part) => part.value.map(() => part.added));
}

/** Blanks are marked only between two words that are. */
function marked(tokens: readonly Token[], flags: readonly boolean[], index: number): boolean {
  const token = tokens[index];
  if (token?.kind !== "space") return flags[index] ?? false;
  return !token.text.includes("\n") && (flags[index - 1] ?? false) && (flags[index + 1] ?? false);
}

function sameToken(a: Token, b: Token): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind === "space") return true;
  return a.kind === "keyword" ? a.text.toLowerCase() === b.text.toLowerCase() : a.text === b.text;
}
