/** On a narrow screen: the name, and the way to the rail. */
import { IconButton } from "./Button";
import { Mark } from "./Mark";
import css from "./TopBar.module.css";

export function TopBar({ open, onToggle }: { open: boolean; onToggle: () => void }) {
  return (
    <header className={css["bar"]}>
      <IconButton icon={open ? "cross" : "menu"} label="Threads and settings" aria-expanded={open} onClick={onToggle} />
      <Mark />
    </header>
  );
}
