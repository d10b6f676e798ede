/** A column's name, its unit or kind, how it is sorted, and its edge to pull. */
import type { Header } from "@tanstack/react-table";
import type { Row } from "../api/events";
import { Icon } from "../shell/Icon";
import { type ColumnFormat, kindWord } from "./columnKinds";
import css from "./ResultTable.module.css";
import type { Sort } from "./usePagedRows";

interface Props {
  header: Header<Row, unknown>;
  format: ColumnFormat | undefined;
  unit?: string | undefined;
  sort: Sort | null;
  onSort?: (() => void) | undefined;
}

export function HeaderCell({ header, format, unit, sort, onSort }: Props) {
  const name = String(header.column.columnDef.header);
  const kind = unit || (format ? kindWord(format.kind) : "");
  const words = (
    <>
      <span className={css["names"]}>
        <span className={css["title"]}>{name}</span>
        <span className={css["kind"]}>{kind}</span>
      </span>
      {sort && <Icon name={sort.descending ? "down" : "up"} />}
    </>
  );
  return (
    <div
      role="columnheader"
      className={css["header"]}
      data-kind={format?.kind}
      aria-sort={sort ? (sort.descending ? "descending" : "ascending") : onSort ? "none" : undefined}
      title={name}
    >
      {onSort ? (
        <button type="button" className={css["sort"]} onClick={onSort}>
          {words}
        </button>
      ) : (
        <span className={css["sort"]}>{words}</span>
      )}
      <span
        className={css["edge"]}
        aria-hidden="true"
        onMouseDown={header.getResizeHandler()}
        onTouchStart={header.getResizeHandler()}
        onDoubleClick={() => header.column.resetSize()}
      />
    </div>
  );
}
