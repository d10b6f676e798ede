/**
 * Puts each number of a text into an element of its own, `data`, so that it can be traced. Code and links are left, and
 * so are the names given: a "4" in "Set of 4" is no number.
 */
import { pieces } from "./trace";

interface Node {
  type: string;
  tagName?: string;
  value?: string;
  children?: Node[];
  properties?: Record<string, unknown>;
}

export function markNumbers(names: readonly string[] = []) {
  return (tree: Node): void => visit(tree, names);
}

function visit(node: Node, names: readonly string[]): void {
  if (!node.children || node.tagName === "code" || node.tagName === "a") return;
  node.children = node.children.flatMap((child) => {
    if (child.type !== "text" || child.value === undefined) {
      visit(child, names);
      return [child];
    }
    return marked(child.value, names);
  });
}

function marked(text: string, names: readonly string[]): Node[] {
  const name = names.find((each) => text.includes(each));
  if (name !== undefined) {
    const at = text.indexOf(name);
    return [...marked(text.slice(0, at), names), leaf(name), ...marked(text.slice(at + name.length), names)];
  }
  return pieces(text).map((piece): Node => {
    if (piece.value === null) return leaf(piece.text);
    return { type: "element", tagName: "data", properties: {}, children: [leaf(piece.text)] };
  });
}

const leaf = (value: string): Node => ({ type: "text", value });
