/** One row, at its place. NULL is a word of its own, apart from empty text. */
import { memo } from "react";
import type { Cell, Row } from "../api/events";
import { cellText, type ColumnFormat } from "./columnKinds";
import css from "./ResultTable.module.css";

interface Props {
  index: number;
  top: number;
  row: Row | null;
  formats: readonly ColumnFormat[];
  template: string;
  /** Column of the cell that a number leads to; -1 for none. */
  traced: number;
}

export const RowLine = memo(function RowLine({ index, top, row, formats, template, traced }: Props) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={`${css["row"]} ${css["line"]}`}
      style={{ transform: `translateY(${top}px)`, gridTemplateColumns: template }}
    >
      <span role="cell" className={css["gutter"]}>
        {(index + 1).toLocaleString("en")}
      </span>
      {formats.map((format, column) => (
        <CellView
          // a cell is known by its place only
          key={column}
          value={row ? row[column] : undefined}
          format={format}
          traced={column === traced}
        />
      ))}
    </div>
  );
});

function CellView({ value, format, traced }: { value: Cell | undefined; format: ColumnFormat; traced: boolean }) {
  const text = value === undefined ? "" : cellText(value, format);
  const state = value === undefined ? "pending" : value === null ? "null" : value === "" ? "empty" : undefined;
  return (
    <span
      role="cell"
      className={css["cell"]}
      data-kind={format.kind}
      data-state={state}
      data-traced={traced || undefined}
      title={text.length > 24 ? text : undefined}
    >
      {state === "empty" ? <span className="hidden-text">empty text</span> : text}
    </span>
  );
}
