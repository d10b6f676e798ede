/**
 * A result of any length: only the rows in view are in the document, pages are fetched as they come into view, and
 * sorting and filtering are the server's.
 */
import { type ColumnDef, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { OnPick } from "../drill/pick";
import type { Row } from "../api/events";
import { type ColumnFormat, columnFormats, knownKind } from "./columnKinds";
import { columnWidth } from "./columnWidth";
import { FilterRow } from "./FilterRow";
import { HeaderCell } from "./HeaderCell";
import { type Filters, readFilters } from "./filters";
import type { Result } from "./results";
import css from "./ResultTable.module.css";
import { RowLine } from "./RowLine";
import { useCells } from "./useCells";
import { type Sort, usePagedRows } from "./usePagedRows";

/** A cell of one of a run's results, counted as the rows came. */
export interface CellPlace {
  task: string | null;
  row: number;
  column: number;
  /** The cell was asked for, so it is brought into view; otherwise it is marked where it can be seen. */
  reveal: boolean;
}

interface Props {
  result: Result;
  traced?: CellPlace | null;
  filtering?: boolean;
  /** Hears how many rows pass the filter, null while there is none. */
  onFound?: (rows: number | null) => void;
  /** Hears which cell was chosen, by a click or by Enter. */
  onPick?: OnPick | undefined;
}

export const ROW_HEIGHT = 32;
const MOST_ROWS_SHOWN = 14;

export function ResultTable({ result, traced = null, filtering = false, onFound, onPick }: Props) {
  const [sort, setSort] = useState<Sort | null>(null);
  const [filters, setFilters] = useState<Filters>({});
  const scroller = useRef<HTMLDivElement>(null);
  const wanted = useMemo(() => (filtering ? readFilters(filters) : []), [filtering, filters]);
  if (traced?.reveal && sort) setSort(null);
  const marked = sort || wanted.length > 0 ? null : traced;

  const [visible, setVisible] = useState({ first: 0, last: MOST_ROWS_SHOWN });
  const pages = usePagedRows(result, sort, wanted, visible);
  const found = wanted.length > 0 ? pages.total : null;
  useEffect(() => {
    onFound?.(found);
    return () => onFound?.(null);
  }, [found, onFound]);
  const formats = useFormats(result, pages.kinds);

  const columns = useMemo(
    (): ColumnDef<Row>[] =>
      result.columns.map((name, index) => ({
        id: String(index),
        header: name,
        size: columnWidth(name, formats[index], result.rows, index),
        minSize: 56,
        maxSize: 900,
      })),
    [result, formats],
  );
  // oxlint-disable-next-line react/incompatible-library
  const table = useReactTable({
    data: EMPTY,
    columns,
    getCoreRowModel: getCoreRowModel(),
    columnResizeMode: "onChange",
  });
  const headers = table.getFlatHeaders();
  const sizes = headers.map((header) => header.getSize());
  const template = `${gutter(pages.total)} ${sizes.map((size) => `${size}px`).join(" ")} minmax(0, 1fr)`;

  const rows = useVirtualizer({
    count: pages.total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const items = rows.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => setVisible({ first, last }), [first, last]);

  useEffect(() => {
    if (marked) rows.scrollToIndex(marked.row, { align: "auto" });
  }, [marked, rows]);

  const { reached, pick, onKeyDown } = useCells(pages, result.columns.length, (row) => rows.scrollToIndex(row), onPick);
  const headHeight = filtering ? 88 : 48;
  return (
    // its cells are what has been chosen when a key is pressed
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      ref={scroller}
      className={css["scroller"]}
      style={{ maxHeight: MOST_ROWS_SHOWN * ROW_HEIGHT + headHeight }}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="group"
      aria-label={`Rows, ${pages.total} in all`}
      aria-busy={pages.fetching}
      onKeyDown={onPick && onKeyDown}
    >
      <div role={onPick ? "grid" : "table"} aria-rowcount={pages.total + 1} aria-colcount={result.columns.length} className={css["table"]}>
        <div role="rowgroup" className={css["head"]}>
          <div role="row" aria-rowindex={1} className={css["row"]} style={{ gridTemplateColumns: template }}>
            <span className={css["gutter"]} role="columnheader">
              <span className="hidden-text">Row</span>
            </span>
            {headers.map((header, index) => (
              <HeaderCell
                key={header.id}
                header={header}
                format={formats[index]}
                unit={result.units?.[index]}
                sort={sort?.column === index ? sort : null}
                onSort={result.runId ? () => setSort(nextSort(sort, index)) : undefined}
              />
            ))}
          </div>
          {filtering && (
            <FilterRow columns={result.columns} formats={formats} filters={filters} template={template} onChange={setFilters} />
          )}
        </div>
        <div role="rowgroup" className={css["body"]} style={{ height: rows.getTotalSize() }}>
          {items.map((item) => (
            <RowLine
              key={item.key}
              index={item.index}
              top={item.start}
              row={pages.row(item.index)}
              formats={formats}
              template={template}
              traced={marked?.row === item.index ? marked.column : -1}
              reached={onPick ? (reached.row === item.index ? reached.column : -1) : null}
              onPick={pick}
            />
          ))}
        </div>
      </div>
      {pages.total === 0 && !pages.error && (
        <p className={css["none"]}>{wanted.length > 0 ? "No row passes the filter." : "The query ran and returned no rows."}</p>
      )}
      {pages.error && (
        <p className={css["problem"]} role="alert">
          {pages.error.message}
        </p>
      )}
    </div>
  );
}

const EMPTY: Row[] = [];

const gutter = (total: number): string => `${Math.max(2, String(total).length) * 0.55 + 1.4}rem`;

/** Ascending, descending, as it came. */
function nextSort(sort: Sort | null, column: number): Sort | null {
  if (sort?.column !== column) return { column, descending: false };
  return sort.descending ? null : { column, descending: true };
}

/** Formats from the first rows, which stay as they are while other pages come and go. */
function useFormats(result: Result, kinds: readonly string[] | null): ColumnFormat[] {
  return useMemo(() => {
    const read = columnFormats(result.columns, result.rows);
    return read.map((format, index) => {
      const kind = kinds?.[index];
      return format.kind === "empty" && kind ? { ...format, kind: knownKind(kind) } : format;
    });
  }, [result, kinds]);
}
