/** Light, dark, or as the system has it. Kept in the browser. */
import { useState } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "text2sql.theme";
const ORDER: readonly Theme[] = ["system", "light", "dark"];

export function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return ORDER.find((theme) => theme === stored) ?? "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(storedTheme);
  return [
    theme,
    (next) => {
      localStorage.setItem(KEY, next);
      applyTheme(next);
      setTheme(next);
    },
  ];
}
