/** Whether an element has been scrolled out of sight, upwards. */
import { type RefObject, useEffect, useState } from "react";

export function usePassed(element: RefObject<Element | null>): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry) setPassed(!entry.isIntersecting && entry.boundingClientRect.top < 0);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return passed;
}
