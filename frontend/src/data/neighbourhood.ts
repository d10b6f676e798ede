/** The part of a wide schema that one can take in at a glance: a table with those that it links to or that link to it. */
import type { SchemaTable } from "../api/types";

/** A diagram of more tables than this is only drawn around one of them. */
export const MOST_TABLES = 60;
const MOST_NEIGHBOURS = 40;

export function neighbourhood(tables: readonly SchemaTable[], center: string): SchemaTable[] {
  const links = linksOf(tables);
  const near = links.get(center) ?? new Set();
  // the second ring as long as there is room, nearest first
  const far = new Set([...near].flatMap((name) => [...(links.get(name) ?? [])]));
  const wanted = new Set([center, ...near, ...far].slice(0, MOST_NEIGHBOURS));
  return tables.filter((table) => wanted.has(table.name));
}

/** The table with the most links, where one begins to look. */
export function mostLinked(tables: readonly SchemaTable[]): string | null {
  const links = linksOf(tables);
  const ranked = tables.toSorted((a, b) => (links.get(b.name)?.size ?? 0) - (links.get(a.name)?.size ?? 0));
  return ranked[0]?.name ?? null;
}

function linksOf(tables: readonly SchemaTable[]): Map<string, Set<string>> {
  const links = new Map(tables.map((table) => [table.name, new Set<string>()]));
  for (const table of tables)
    for (const column of table.columns) {
      const target = column.foreign_key?.slice(0, column.foreign_key.lastIndexOf("."));
      if (!target || target === table.name || !links.has(target)) continue;
      links.get(table.name)?.add(target);
      links.get(target)?.add(table.name);
    }
  return links;
}
