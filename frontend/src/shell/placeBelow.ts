/** Where a list that lies above everything else belongs. */
const EDGE = 8;

/** Below the button, or above it where there is more room; one of its edges below the button's. */
export function placeBelow(list: HTMLElement, button: DOMRect, edge: "left" | "right" = "right"): void {
  const { width, height } = list.getBoundingClientRect();
  const below = window.innerHeight - button.bottom - EDGE;
  const above = button.top - EDGE;
  const upwards = height > below && above > below;
  const top = upwards ? Math.max(EDGE, button.top - height - 4) : button.bottom + 4;
  list.style.top = `${top}px`;
  const left = edge === "left" ? button.left : button.right - width;
  list.style.left = `${Math.min(Math.max(EDGE, left), window.innerWidth - width - EDGE)}px`;
  list.style.maxHeight = `${Math.max(upwards ? above : below, 120)}px`;
}
