/** A board as a picture, with the fonts that it is set in. */
import { toBlob } from "html-to-image";
import { saveBlob } from "../api/client";
import { fileName } from "../shell/fileName";

export async function saveBoard(board: HTMLElement, name: string): Promise<void> {
  const backgroundColor = getComputedStyle(document.documentElement).backgroundColor;
  const blob = await toBlob(board, { backgroundColor, pixelRatio: 2, filter: isShown, fontEmbedCSS: await fontsInUse() });
  if (blob) saveBlob(blob, `${fileName(name)}.png`);
}

/** What can only be pressed is left out of a picture. */
const isShown = (one: HTMLElement): boolean => one.tagName !== "BUTTON" || one.dataset["set"] !== undefined;

/** The rules of the fonts that are loaded, their files inside. */
async function fontsInUse(): Promise<string> {
  const loaded = new Set([...document.fonts].filter((font) => font.status === "loaded").map((font) => `${bare(font.family)} ${font.unicodeRange}`));
  const rules = [...document.styleSheets].flatMap((sheet) =>
    [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule).map((rule) => ({ rule, base: sheet.href ?? location.href })),
  );
  const used = rules.filter(({ rule: { style } }) =>
    loaded.has(`${bare(style.getPropertyValue("font-family"))} ${style.getPropertyValue("unicode-range")}`),
  );
  const written = await Promise.all(used.map(({ rule, base }) => inlined(rule.cssText, base)));
  return written.join("\n");
}

const bare = (family: string): string => family.replace(/["']/g, "");

async function inlined(css: string, base: string): Promise<string> {
  const [whole, url] = /url\("?([^")]+)"?\)/.exec(css) ?? [];
  if (!whole || !url) return css;
  const file = await (await fetch(new URL(url, base))).blob();
  const data = await new Promise<string>((done) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(String(reader.result)));
    reader.readAsDataURL(file);
  });
  return css.replace(whole, `url("${data}")`);
}
