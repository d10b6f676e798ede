/** The editor in the page's own type and colours. */
import { EditorView } from "@codemirror/view";

export const editorLook = EditorView.theme({
  "&": { backgroundColor: "transparent", color: "var(--ink)", fontSize: "var(--text-s)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", maxHeight: "24rem", minHeight: "7rem" },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 1rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--accent-tint) !important" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-tint) !important" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius-s)",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "var(--text-s)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0.25rem 0.5rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-tint) !important",
    color: "var(--ink) !important",
  },
});
