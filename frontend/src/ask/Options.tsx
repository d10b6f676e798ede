/** What one may choose, as buttons that wrap. */
import type { ReactNode } from "react";
import css from "./Options.module.css";

export interface Option {
  label: string;
  run: () => unknown;
  pressed?: boolean;
}

interface Props {
  options: readonly Option[];
  disabled?: boolean;
  /** Further items of the list: other ways than these. */
  children?: ReactNode;
}

export function Options({ options, disabled = false, children }: Props) {
  return (
    <ul className={css["options"]}>
      {options.map(({ label, run, pressed }) => (
        <li key={label}>
          <button type="button" className={css["option"]} disabled={disabled} aria-pressed={pressed} onClick={run}>
            {label}
          </button>
        </li>
      ))}
      {children}
    </ul>
  );
}
