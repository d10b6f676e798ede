/** A button that opens a list of actions. The list lies above everything else and inside the window: nothing cuts it. */
import { useLayoutEffect, useRef, useState } from "react";
import { Button } from "./Button";
import type { IconName } from "./Icon";
import css from "./Menu.module.css";
import { useDismiss } from "./useDismiss";

export interface MenuItem {
  name: string;
  run: () => void;
}

interface Props {
  label: string;
  icon: IconName;
  items: readonly MenuItem[];
  compact?: boolean;
}

export function Menu({ label, icon, items, compact = false }: Props) {
  const [open, setOpen] = useState(false);
  const box = useDismiss<HTMLDivElement>(open, () => setOpen(false));
  const list = useRef<HTMLUListElement>(null);

  useLayoutEffect(() => {
    if (!open || !list.current || !box.current) return;
    list.current.showPopover();
    const follow = () => {
      if (list.current && box.current) place(list.current, box.current.getBoundingClientRect());
    };
    follow();
    window.addEventListener("scroll", follow);
    const close = () => setOpen(false);
    window.addEventListener("resize", close);
    return () => {
      window.removeEventListener("scroll", follow);
      window.removeEventListener("resize", close);
    };
  }, [open, box]);

  return (
    <div ref={box}>
      <Button compact={compact} icon={icon} aria-expanded={open} aria-haspopup="true" onClick={() => setOpen(!open)}>
        {label}
      </Button>
      {open && (
        <ul ref={list} className={css["menu"]} popover="manual">
          {items.map(({ name, run }) => (
            <li key={name}>
              <button
                type="button"
                className={css["item"]}
                onClick={() => {
                  setOpen(false);
                  run();
                }}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const EDGE = 8;

/** Below the button, or above it where there is more room; its right edge below the button's. */
function place(list: HTMLElement, button: DOMRect): void {
  const { width, height } = list.getBoundingClientRect();
  const below = window.innerHeight - button.bottom - EDGE;
  const above = button.top - EDGE;
  const upwards = height > below && above > below;
  const top = upwards ? Math.max(EDGE, button.top - height - 4) : button.bottom + 4;
  list.style.top = `${top}px`;
  list.style.left = `${Math.min(Math.max(EDGE, button.right - width), window.innerWidth - width - EDGE)}px`;
  list.style.maxHeight = `${Math.max(upwards ? above : below, 120)}px`;
}
