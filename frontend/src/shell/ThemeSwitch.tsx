/** One button that goes round: as the system, light, dark. */
import { IconButton } from "./Button";
import { type Theme, useTheme } from "./theme";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const SIGNS = { system: "system", light: "sun", dark: "moon" } as const;
const WORDS: Record<Theme, string> = { system: "as the system has it", light: "light", dark: "dark" };

export function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  return (
    <IconButton icon={SIGNS[theme]} label={`Colours: ${WORDS[theme]}. Change.`} onClick={() => setTheme(NEXT[theme])} />
  );
}
