/** A short word on what was just done; it goes away by itself. */
import { useCallback, useEffect, useRef, useState } from "react";

export function useToast(ms = 4000): [string, (text: string) => void] {
  const [said, setSaid] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const say = useCallback(
    (text: string) => {
      clearTimeout(timer.current);
      setSaid(text);
      timer.current = setTimeout(() => setSaid(""), ms);
    },
    [ms],
  );
  useEffect(() => () => clearTimeout(timer.current), []);
  return [said, say];
}
