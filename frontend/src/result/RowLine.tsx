/** One row, at its place. NULL is a word of its own, apart from empty text. */
import { memo, type MouseEventHandler } from "react";
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
  /** Column of the cell that the keys have reached; -1 for none, null where cells lead nowhere. */
  reached: number | null;
  onPick: (row: number, column: number, at: Element) => void;
}

export const RowLine = memo(function RowLine({ index, top, row, formats, template, traced, reached, onPick }: Props) {
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
          tabIndex={reached === null ? undefined : column === reached ? 0 : -1}
          onClick={reached === null ? undefined : (event) => onPick(index, column, event.currentTarget)}
        />
      ))}
    </div>
  );
});

interface CellProps {
  value: Cell | undefined;
  format: ColumnFormat;
  traced: boolean;
  tabIndex: number | undefined;
  onClick: MouseEventHandler<HTMLElement> | undefined;
}

function CellView({ value, format, traced, tabIndex, onClick }: CellProps) {
  const text = value === undefined ? "" : cellText(value, format);
  const state = value === undefined ? "pending" : value === null ? "null" : value === "" ? "empty" : undefined;
  return (
    // the table hears the keys of its cells
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <span
      role={onClick ? "gridcell" : "cell"}
      className={css["cell"]}
      data-kind={format.kind}
      data-state={state}
      data-traced={traced || undefined}
      title={text.length > 24 ? text : undefined}
      tabIndex={tabIndex}
      onClick={onClick}
    >
      {state === "empty" ? <span className="hidden-text">empty text</span> : text}
    </span>
  );
}
