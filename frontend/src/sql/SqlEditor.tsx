/** The SQL editor: colours, and completion from the database's own tables and columns. Mod-Enter runs. */
import {
  autocompletion,
  closeCompletion,
  completionKeymap,
  completionStatus,
  startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { MariaSQL, MySQL, PostgreSQL, sql, SQLite, type SQLDialect } from "@codemirror/lang-sql";
import { columnsNearby } from "./columnsNearby";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
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

/** Marks the change that lays the statement out: nobody typed it. */
const FORMATTED = Annotation.define<true>();

export function SqlEditor({ initial, dialect, schema, onChange, onRun }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const calls = useRef({ onChange, onRun });
  const view = useRef<EditorView>(undefined);
  const language = useRef(new Compartment());
  const untouched = useRef(initial);
  useEffect(() => {
    calls.current = { onChange, onRun };
  });

  useEffect(() => {
    if (!host.current) return;
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: untouched.current,
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
          language.current.of([]),
          syntaxHighlighting(COLOURS),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "SQL to run" }),
          EditorView.updateListener.of((update) => {
            // what one typed just before leaving the editor opens nothing over what one went to
            if (!update.view.hasFocus && completionStatus(update.state)) queueMicrotask(() => closeCompletion(update.view));
            const typed = update.docChanged && !update.transactions.some((change) => change.annotation(FORMATTED));
            if (typed) calls.current.onChange(update.state.doc.toString());
          }),
          editorLook,
        ],
      }),
    });
    view.current = editor;
    editor.focus();
    return () => editor.destroy();
  }, []);

  // the formatted text may arrive late, too: it replaces only what nobody has changed
  useEffect(() => {
    const editor = view.current;
    const before = untouched.current;
    untouched.current = initial;
    if (!editor || before === initial || editor.state.doc.toString() !== before) return;
    editor.dispatch({ changes: { from: 0, to: before.length, insert: initial }, annotations: FORMATTED.of(true) });
  }, [initial]);

  // the schema may arrive while one types: text, cursor and history stay, and an open list is filled anew
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    editor.dispatch({ effects: language.current.reconfigure(languageOf(dialect, schema)) });
    if (completionStatus(editor.state)) startCompletion(editor);
  }, [dialect, schema]);

  return <div ref={host} />;
}

function languageOf(dialect: string, schema: DatabaseSchema | undefined): Extension {
  return [
    sql({ dialect: DIALECTS[dialect] ?? SQLite, schema: names(schema), upperCaseKeywords: true }),
    EditorState.languageData.of(() => [{ autocomplete: columnsNearby(schema) }]),
  ];
}

/** What the completion offers: each table with its columns. */
function names(schema: DatabaseSchema | undefined): Record<string, string[]> {
  return Object.fromEntries((schema?.tables ?? []).map((table) => [table.name, table.columns.map((c) => c.name)]));
}
