import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { withoutDoubts } from "../../src/answer/AnswerText";
import Markdown from "../../src/answer/Markdown";

const show = (text: string) =>
  render(<Markdown text={text} results={[]} question="" onTrace={() => undefined} />).container;

describe("an answer's text is data", () => {
  it("never becomes HTML of its own", () => {
    const box = show('<img src=x onerror="alert(1)"><script>alert(2)</script>**bold** <b>plain</b>');
    expect(box.querySelector("img, script, b")).toBeNull();
    expect(box.querySelector("strong")?.textContent).toBe("bold");
  });

  it("links to nothing and shows no pictures: an address is text", () => {
    const box = show("[a](javascript:alert(1)) [b](https://example.org) https://example.com ![c](https://example.org/c.png)");
    expect(box.querySelector("a, img")).toBeNull();
    expect(box.textContent).toBe("a b (https://example.org) https://example.com c");
  });

  it("may hold tables and lists", () => {
    show("| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two");
    expect(screen.getAllByRole("cell")).toHaveLength(2);
    expect(screen.getAllByRole("listitem")).toHaveLength(2);
  });

  it("says its doubts once: they have a line of their own", () => {
    expect(withoutDoubts("Five rows.\n\n> Doubt: few.\n> Doubt: old.\n")).toBe("Five rows.");
    expect(withoutDoubts("> Doubt: it is quoted.\n\nFive.")).toContain("quoted");
  });
});
