/** A column's name in words, for the axes of a chart: `order_date` is “Order date”, `COUNT(*)` is “Number of rows”. */

const AGGREGATES: Record<string, string> = {
  sum: "Sum of",
  avg: "Average",
  min: "Smallest",
  max: "Largest",
  total: "Sum of",
  median: "Median",
};

export function axisTitle(column: string): string {
  return sentence(words(column.trim()));
}

function words(name: string): string {
  const call = /^(\w+)\s*\(\s*(distinct\s+)?(.*?)\s*\)$/is.exec(name);
  const [, called = "", distinct = "", inside = ""] = call ?? [];
  if (call && /^\w+$/.test(called)) {
    const kind = called.toLowerCase();
    if (kind === "count") return inside === "*" || inside === "1" ? "number of rows" : `number of ${distinct ? "different " : ""}${words(inside)}`;
    if (kind === "round") return words(inside.replace(/\s*,\s*-?\d+$/, ""));
    const word = AGGREGATES[kind];
    if (word) return `${word} ${words(inside)}`;
  }
  if (/[()+/*]| - /.test(name)) return name; // a calculation stays as it is written
  const bare = name.replaceAll(/["`[\]]/g, "").split(".").at(-1) ?? name;
  return bare
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .split(" ")
    .map((word) => (/^[A-Z\d]{2,4}$/.test(word) && (bare.length <= 4 || bare !== bare.toUpperCase()) ? word : word.toLowerCase()))
    .join(" ")
    .replace(/ id$/, " ID")
    .replace(/ usd$/, " (USD)")
    .replace(/ eur$/, " (EUR)")
    .replace(/ pct$/, " (%)")
    .trim();
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
