/** Closes what is open when one presses Escape or clicks elsewhere. */
import { type RefObject, useEffect, useRef } from "react";

export function useDismiss<T extends HTMLElement>(open: boolean, close: () => void): RefObject<T | null> {
  const box = useRef<T>(null);
  const latest = useRef(close);
  useEffect(() => {
    latest.current = close;
  });
  useEffect(() => {
    if (!open) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
      event.stopPropagation();
      latest.current();
      box.current?.querySelector("button")?.focus();
    };
    const onPress = (event: PointerEvent) => {
      const at = event.target as Element;
      if (!box.current?.contains(at)) latest.current();
    };
    document.addEventListener("keydown", onKey, true);
    document.addEventListener("pointerdown", onPress);
    return () => {
      document.removeEventListener("keydown", onKey, true);
      document.removeEventListener("pointerdown", onPress);
    };
  }, [open]);
  return box;
}
