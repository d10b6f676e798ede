/** Where the tables of a diagram stand and how the lines between them run, computed by dagre. */
import { Graph, layout as dagre } from "@dagrejs/dagre";
import type { SchemaTable } from "../api/types";

export const HEAD = 30;
export const LINE = 22;
const CHARACTER = 7.2;
/** How far a link of a table to itself reaches out. */
export const LOOP = 34;

export interface Box {
  table: SchemaTable;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Edge {
  from: string;
  to: string;
  column: string;
  inferred: boolean;
  points: { x: number; y: number }[];
}

export interface Drawing {
  boxes: Box[];
  edges: Edge[];
  width: number;
  height: number;
}

/** Columns that a diagram shows: keys and links; the rest only when all are wanted. */
export function shownColumns(table: SchemaTable, all: boolean) {
  return all ? table.columns : table.columns.filter((column) => column.primary_key || column.foreign_key);
}

export function layout(tables: readonly SchemaTable[], all: boolean): Drawing {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 28, ranksep: 84, marginx: 8, marginy: 8 });
  // one width for all, so that the tables stand in straight columns
  const width = Math.max(...tables.map((table) => neededWidth(table, all)));
  for (const table of tables)
    graph.setNode(table.name, { width, height: HEAD + shownColumns(table, all).length * LINE + 6 });
  const names = new Set(tables.map((table) => table.name));
  for (const table of tables)
    for (const column of table.columns) {
      const target = column.foreign_key?.slice(0, column.foreign_key.lastIndexOf("."));
      if (target && names.has(target))
        graph.setEdge(table.name, target, { inferred: column.inferred ?? false }, column.name);
    }
  dagre(graph);
  const boxes = tables.map((table): Box => {
    const { x, y, width, height } = graph.node(table.name) as Box;
    return { table, x: x - width / 2, y: y - height / 2, width, height };
  });
  const byName = new Map(boxes.map((box) => [box.table.name, box]));
  const edges = graph.edges().flatMap((edge): Edge[] => {
    const [from, to] = [byName.get(edge.v), byName.get(edge.w)];
    const { points, inferred } = graph.edge(edge) as Pick<Edge, "points" | "inferred">;
    if (!from || !to) return [];
    const column = edge.name ?? "";
    const target = from.table.columns.find((c) => c.name === column)?.foreign_key?.split(".").at(-1) ?? "";
    return [{ from: edge.v, to: edge.w, column, inferred, points: between(from, column, to, target, points, all) }];
  });
  const size = graph.graph() as { width?: number; height?: number };
  return { boxes, edges, width: (size.width ?? 0) + LOOP, height: size.height ?? 0 };
}

function neededWidth(table: SchemaTable, all: boolean): number {
  const columns = shownColumns(table, all);
  const longest = Math.max(table.name.length + 8, ...columns.map((c) => c.name.length + (all ? c.type.length + 3 : 2)));
  return Math.min(Math.max(longest * CHARACTER + 24, 120), 320);
}

/** From the line of the column that points to the line of the column pointed to, around what stands in between. */
function between(from: Box, column: string, to: Box, target: string, points: Edge["points"], all: boolean): Edge["points"] {
  const ownRight = from.x + from.width;
  // a table that points to itself: out on the right and back in
  if (from === to) return [{ x: ownRight, y: lineOf(from, column, all) }, { x: ownRight, y: lineOf(to, target, all) }];
  const right = from.x + from.width <= to.x + to.width / 2;
  const start = { x: right ? from.x + from.width : from.x, y: lineOf(from, column, all) };
  const end = { x: right ? to.x : to.x + to.width, y: lineOf(to, target, all) };
  const farthest = Math.abs(end.x - start.x);
  // the layout's own bends only matter where a column of boxes lies between
  const inner = farthest > 140 ? points.slice(1, -1).filter((p) => p.x > start.x + 30 && p.x < end.x - 30) : [];
  return [start, ...inner, end];
}

function lineOf(box: Box, column: string, all: boolean): number {
  const index = shownColumns(box.table, all).findIndex((c) => c.name === column);
  return index < 0 ? box.y + HEAD / 2 : box.y + HEAD + LINE * (index + 0.5) + 2;
}
