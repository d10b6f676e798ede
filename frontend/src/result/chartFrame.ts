/** What stands around a drawing: its title, the names of its colours, and room for labels, so that none is cut off. */

/** About as wide as a letter of the axes is; letters of Chinese, Japanese and Korean are about twice as wide. */
const CHARACTER = 6.6;
const LINE = 20;
const GAP = 16;

export function textWidth(text: string): number {
  let width = 0;
  for (const letter of text) width += letter > "\u2e80" ? 2 * CHARACTER : CHARACTER;
  return width;
}

/** The text, or as much of its beginning as fits. */
export function fitted(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let cut = text;
  while (cut.length > 1 && textWidth(`${cut}…`) > width) cut = cut.slice(0, -1);
  return `${cut.trimEnd()}…`;
}

export const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(textWidth));

export interface Named {
  name: string;
  colour: string;
}

export interface Head {
  height: number;
  draw: () => SVGElement;
}

/** The title and the names of the colours, above the drawing, in as many lines as they need. */
export function headOf(title: string, colours: readonly Named[], width: number): Head {
  const names = colours.map(({ name, colour }) => ({ name: fitted(name, Math.min(220, width - 40)), colour }));
  const above = title ? LINE + 4 : 0;
  let [x, y] = [0, above];
  const places = names.map(({ name }) => {
    const size = textWidth(name) + 18;
    if (x > 0 && x + size > width) [x, y] = [0, y + LINE];
    const place = { x, y };
    x += size + GAP;
    return place;
  });
  const height = names.length > 0 ? y + LINE + 4 : above;
  const draw = () => {
    const head = svg("g", { "aria-hidden": "true", "data-mark": "head", transform: `translate(0,${-height})` });
    if (title) head.append(words(fitted(title, width / 1.15), { x: 0, y: 14, "font-size": 14, "font-weight": 600, fill: "var(--ink)" }));
    for (const [index, { name, colour }] of names.entries()) {
      const place = places[index] ?? { x: 0, y: 0 };
      head.append(svg("rect", { x: place.x, y: place.y + 4, width: 11, height: 11, rx: 2, fill: colour }));
      head.append(words(name, { x: place.x + 17, y: place.y + 14, fill: "var(--ink)" }));
    }
    return head;
  };
  return { height, draw };
}

export interface EndLabel {
  text: string;
  colour: string;
  x: number;
  y: number;
}

/** Names at the right ends of lines, moved apart where they would lie on each other. */
export function drawEndLabels(labels: readonly EndLabel[], room: number, bottom: number): SVGElement {
  const group = svg("g", { "aria-hidden": "true", "data-mark": "ends" });
  const HIGH = 14;
  const sorted = labels.toSorted((a, b) => a.y - b.y);
  const ys: number[] = [];
  for (const label of sorted) ys.push(Math.max(label.y, (ys.at(-1) ?? -HIGH) + HIGH));
  // what was pushed out below moves up again
  for (let index = ys.length - 1; index >= 0; index -= 1)
    ys[index] = Math.min(ys[index] ?? 0, (ys[index + 1] ?? bottom + HIGH) - HIGH);
  for (const [index, { text, colour, x, y }] of sorted.entries()) {
    const place = ys[index] ?? y;
    group.append(svg("line", { x1: x + 4, y1: y, x2: x + 10, y2: place, stroke: colour }));
    group.append(words(fitted(text, room - 13), { x: x + 13, y: place, dy: "0.32em", fill: "var(--ink)" }));
  }
  return group;
}

function words(text: string, attributes: Record<string, string | number>): SVGElement {
  const element = svg("text", { "text-anchor": "start", ...attributes });
  element.textContent = text;
  return element;
}

function svg(name: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
