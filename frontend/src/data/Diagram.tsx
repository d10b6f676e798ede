/** The tables and the links between them, drawn; a click opens a table. */
import { useMemo, useRef, useState } from "react";
import type { SchemaTable } from "../api/types";
import { savePicture } from "../result/savePicture";
import { Button } from "../shell/Button";
import { counted } from "../shell/counted";
import css from "./Diagram.module.css";
import { type Box, type Edge, HEAD, layout, LINE, LOOP, shownColumns } from "./layout";
import { mostLinked, MOST_TABLES, neighbourhood } from "./neighbourhood";

interface Props {
  /** The database's, for the picture's file. */
  name: string;
  tables: readonly SchemaTable[];
  onOpen: (table: string) => void;
}

export default function Diagram({ name, tables, onOpen }: Props) {
  const [all, setAll] = useState(false);
  const [fit, setFit] = useState(true);
  const [near, setNear] = useState<string | null>(null);
  const [center, setCenter] = useState<string | null>(() => (tables.length > MOST_TABLES ? mostLinked(tables) : null));
  const shown = useMemo(() => (center === null ? tables : neighbourhood(tables, center)), [tables, center]);
  const drawing = useMemo(() => layout(shown, all), [shown, all]);
  const drawn = useRef<SVGSVGElement>(null);
  const links = drawing.edges.length;
  const guessed = drawing.edges.filter((edge) => edge.inferred).length;
  return (
    <section role="group" aria-label="Diagram of the tables">
      <div className={css["head"]}>
        <p className={css["facts"]}>
          {center !== null && `${shown.length} of `}
          {counted(tables.length, "table")}, {counted(links, "link")}
          {guessed > 0 && `; ${guessed} dashed: read from names and values, not declared`}
        </p>
        <label className={css["center"]}>
          Around
          <select value={center ?? ""} onChange={(event) => setCenter(event.target.value || null)}>
            {tables.length <= MOST_TABLES && <option value="">all tables</option>}
            {tables.map((table) => (
              <option key={table.name} value={table.name}>
                {table.name}
              </option>
            ))}
          </select>
        </label>
        <div className={css["actions"]}>
          <Button aria-pressed={!fit} onClick={() => setFit(!fit)}>
            Full size
          </Button>
          <Button aria-pressed={all} onClick={() => setAll(!all)}>
            All columns
          </Button>
          <Button icon="download" onClick={() => void savePicture(drawn.current, `${name}, tables`)}>
            Image
          </Button>
        </div>
      </div>
      {/* a drawing wider than the page scrolls, also with the keyboard */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={css["scroller"]} tabIndex={0} role="group" aria-label="Diagram">
        <svg
          ref={drawn}
          width={drawing.width}
          height={drawing.height}
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
          className={css["svg"]}
          data-fit={fit || undefined}
          role="group"
          aria-label="Tables and links"
        >
          {drawing.edges.map((edge) => (
            <EdgeLine key={`${edge.from}-${edge.column}-${edge.to}`} edge={edge} near={near === edge.from || near === edge.to} />
          ))}
          {drawing.boxes.map((box) => (
            <TableBox key={box.table.name} box={box} all={all} onOpen={onOpen} onNear={setNear} />
          ))}
        </svg>
      </div>
    </section>
  );
}

function EdgeLine({ edge, near }: { edge: Edge; near: boolean }) {
  const [start] = edge.points;
  const end = edge.points.at(-1);
  if (!start || !end) return null;
  const loop = edge.from === edge.to;
  const way = end.x >= start.x ? 1 : -1;
  const back = loop ? -way : way;
  return (
    <g className={css["edge"]} data-near={near || undefined}>
      <title>
        {edge.from}.{edge.column} points to {edge.to}
      </title>
      <path d={loop ? around(start, end) : curve(edge.points)} strokeDasharray={edge.inferred ? "5 4" : undefined} />
      {/* many on this side, one on that */}
      <path d={`M${start.x},${start.y - 5} L${start.x + 9 * way},${start.y} L${start.x},${start.y + 5}`} />
      <path d={`M${end.x - 7 * back},${end.y - 4.5} v9`} />
    </g>
  );
}

function around(start: Point, end: Point): string {
  return `M${start.x},${start.y} C${start.x + LOOP},${start.y} ${end.x + LOOP},${end.y} ${end.x},${end.y}`;
}

type Point = Edge["points"][number];

/** A smooth line that leaves and arrives level. */
function curve(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      if (!before) return `M${point.x},${point.y}`;
      const middle = (before.x + point.x) / 2;
      return `C${middle},${before.y} ${middle},${point.y} ${point.x},${point.y}`;
    })
    .join(" ");
}

interface BoxProps {
  box: Box;
  all: boolean;
  onOpen: (table: string) => void;
  onNear: (table: string | null) => void;
}

function TableBox({ box, all, onOpen, onNear }: BoxProps) {
  const { table, x, y, width, height } = box;
  return (
    <g
      transform={`translate(${x},${y})`}
      className={css["box"]}
      role="button"
      tabIndex={0}
      onClick={() => onOpen(table.name)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault(); // a blank would scroll
        onOpen(table.name);
      }}
      onFocus={() => onNear(table.name)}
      onBlur={() => onNear(null)}
      onMouseEnter={() => onNear(table.name)}
      onMouseLeave={() => onNear(null)}
    >
      <rect width={width} height={height} rx="5" className={css["paper"]} />
      <text x="12" y="20" className={css["name"]}>
        {/* a blank parts the words where they are read out */}
        {`${table.name} `}
      </text>
      {table.row_count !== null && (
        <text x={width - 12} y="20" textAnchor="end" className={css["count"]}>
          {`${table.row_count.toLocaleString("en")} `}
        </text>
      )}
      <line x1="0" x2={width} y1={HEAD} y2={HEAD} className={css["rule"]} />
      {shownColumns(table, all).map((column, index) => (
        <text key={column.name} x="12" y={HEAD + 17 + index * LINE} className={css["column"]}>
          <tspan className={column.primary_key ? css["primary"] : undefined}>{`${column.name} `}</tspan>
          {all && (
            <tspan dx="8" className={css["count"]}>
              {column.type.toLowerCase()}
            </tspan>
          )}
        </text>
      ))}
    </g>
  );
}
