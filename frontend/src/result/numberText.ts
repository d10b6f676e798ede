/** How a chart writes its numbers: in full where one points, and short on the axes. */
import { cellText, type ColumnFormat } from "./columnKinds";
import type { Look } from "./look";

export interface Numbers {
  full: (value: number) => string;
  short: (value: number) => string;
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
const PLAIN = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const short = (value: number): string => (Math.abs(value) >= 100_000 ? COMPACT : PLAIN).format(value);

export function numbersOf(look: Look, format: ColumnFormat | undefined, values: readonly number[]): Numbers {
  const { decimals } = look;
  const digits = decimals === null ? {} : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const known = values.filter(Number.isFinite);
  const made = (options: Intl.NumberFormatOptions): Numbers["full"] => {
    const written = new Intl.NumberFormat("en", { ...options, ...digits });
    return (value) => written.format(value);
  };
  switch (look.format) {
    case "plain":
      return both(made({ maximumFractionDigits: 2 }));
    case "compact":
      return both(made({ notation: "compact", maximumFractionDigits: 1 }));
    case "percent": {
      // a column of shares holds 0.25, a column of percentages 25
      const whole = known.every((value) => Math.abs(value) <= 1) ? 1 : 100;
      const written = made({ style: "percent", maximumFractionDigits: 1 });
      return both((value) => written(value / whole));
    }
    case "currency": {
      const round = known.every(Number.isInteger) ? { maximumFractionDigits: 0 } : {};
      const money = { style: "currency", currency: look.currency } as const;
      const large = made({ ...money, notation: "compact", maximumFractionDigits: 1 });
      const full = made({ ...money, ...round });
      return { full, short: (value) => (Math.abs(value) >= 100_000 ? large(value) : full(value)) };
    }
    case "auto":
      if (decimals !== null) return both(made({}));
      return { full: (value) => cellText(value, format), short };
  }
}

const both = (full: Numbers["full"]): Numbers => ({ full, short: full });
