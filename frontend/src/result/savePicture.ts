/** A drawing as a file: a PNG twice as large as on the screen, or the SVG itself, in the colours that are shown. */
import { saveBlob } from "../api/client";
import { fileName } from "../shell/fileName";

const SCALE = 2;
const LOOKS = ["fill", "stroke", "stroke-width", "color", "font-family", "font-size", "font-weight"];

export async function savePicture(svg: SVGSVGElement | null, name: string): Promise<void> {
  if (!svg) return;
  const { width, height } = svg.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(svg))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: width * SCALE, height: height * SCALE });
  const context = canvas.getContext("2d");
  if (!context) return;
  context.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (blob) saveBlob(blob, `${fileName(name)}.png`);
}

export function saveDrawing(svg: SVGSVGElement | null, name: string): void {
  if (svg) saveBlob(new Blob([standalone(svg)], { type: "image/svg+xml" }), `${fileName(name)}.svg`);
}

/** A copy that looks the same by itself: what the style sheets say is written on each element. */
function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const originals = [svg, ...svg.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  for (const [index, original] of originals.entries()) {
    const shown = getComputedStyle(original);
    const target = copies[index];
    if (!target) continue;
    for (const name of LOOKS)
      if (shown.getPropertyValue(name)) target.setAttribute(name, shown.getPropertyValue(name));
    target.removeAttribute("style");
  }
  for (const style of copy.querySelectorAll("style")) style.remove();
  return new XMLSerializer().serializeToString(copy);
}

