/** The SQL editor: colours, and completion from the database's own tables and columns. Mod-Enter runs. */
import { autocompletion, closeCompletion, completionKeymap, completionStatus } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { MariaSQL, MySQL, PostgreSQL, sql, SQLite, type SQLDialect } from "@codemirror/lang-sql";
import { columnsNearby } from "./columnsNearby";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import type { DatabaseSchema } from "../api/types";
import { editorLook } from "./editorLook";

interface Props {
  initial: string;
  dialect: string;
  schema: DatabaseSchema | undefined;
  onChange: (sql: string) => void;
  onRun: () => void;
}

const DIALECTS: Record<string, SQLDialect> = {
  sqlite: SQLite,
  duckdb: PostgreSQL,
  postgresql: PostgreSQL,
  postgres: PostgreSQL,
  mysql: MySQL,
  mariadb: MariaSQL,
  spark: MySQL, // both quote names with backticks
};

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)" },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: "var(--sure)" },
  { tag: tags.comment, color: "var(--ink-2)" },
]);

export function SqlEditor({ initial, dialect, schema, onChange, onRun }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const calls = useRef({ onChange, onRun });
  const text = useRef(initial);
  useEffect(() => {
    calls.current = { onChange, onRun };
  });

  useEffect(() => {
    if (!host.current) return;
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: text.current,
        extensions: [
          history(),
          drawSelection(),
          bracketMatching(),
          autocompletion({ icons: false }), // its signs are not in the page's fonts
          keymap.of([
            { key: "Mod-Enter", run: () => (calls.current.onRun(), true) },
            ...completionKeymap,
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          sql({ dialect: DIALECTS[dialect] ?? SQLite, schema: names(schema), upperCaseKeywords: true }),
          EditorState.languageData.of(() => [{ autocomplete: columnsNearby(schema) }]),
          syntaxHighlighting(COLOURS),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "SQL to run" }),
          EditorView.updateListener.of((update) => {
            // what one typed just before leaving the editor opens nothing over what one went to
            if (!update.view.hasFocus && completionStatus(update.state)) queueMicrotask(() => closeCompletion(update.view));
            if (!update.docChanged) return;
            text.current = update.state.doc.toString();
            calls.current.onChange(text.current);
          }),
          editorLook,
        ],
      }),
    });
    view.focus();
    return () => view.destroy();
  }, [dialect, schema]);

  return <div ref={host} />;
}

/** What the completion offers: each table with its columns. */
function names(schema: DatabaseSchema | undefined): Record<string, string[]> {
  return Object.fromEntries((schema?.tables ?? []).map((table) => [table.name, table.columns.map((c) => c.name)]));
}
