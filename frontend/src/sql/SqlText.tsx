/** A statement in colours, inside a scrollable block that the keyboard can reach. */
import { type CSSProperties, useMemo } from "react";
import css from "./SqlText.module.css";
import { linesOf, type Token, tokenize } from "./tokenize";

export function SqlText({ sql, label }: { sql: string; label: string }) {
  const lines = useMemo(() => linesOf(tokenize(sql)), [sql]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className={css["sql"]} tabIndex={0} role="group" aria-label={label}>
      <code>
        {lines.map((line, index) => (
          // a line too long for the block goes on below itself, further in
          <span key={index} className={css["line"]} style={{ "--indent": `${line.indent}ch` } as CSSProperties}>
            <Tokens tokens={line.tokens} />
            {"\n"}
          </span>
        ))}
      </code>
    </pre>
  );
}

export function Tokens({ tokens }: { tokens: readonly Token[] }) {
  return tokens.map((token, index) =>
    token.kind === "space" || token.kind === "operator" || token.kind === "name" ? (
      token.text
    ) : (
      <span key={index} className={css[token.kind]}>
        {token.text}
      </span>
    ),
  );
}
