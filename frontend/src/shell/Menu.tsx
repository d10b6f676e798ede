/** A button that opens a list of actions. The list lies above everything else and inside the window: nothing cuts it. */
import { useLayoutEffect, useRef, useState } from "react";
import { Button } from "./Button";
import type { IconName } from "./Icon";
import css from "./Menu.module.css";
import { placeBelow } from "./placeBelow";
import { useDismiss } from "./useDismiss";

export interface MenuItem {
  name: string;
  run: () => unknown;
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
      if (list.current && box.current) placeBelow(list.current, box.current.getBoundingClientRect());
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
                  box.current?.querySelector("button")?.focus();
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
