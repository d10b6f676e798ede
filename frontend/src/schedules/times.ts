/** A cron expression as people choose it, and in words. */

export type Every = "day" | "weekdays" | "week" | "month" | "cron";

export interface Choice {
  every: Every;
  /** `HH:MM`. */
  at: string;
  /** 0 is Sunday. */
  weekday: number;
  /** 1 to 31. */
  day: number;
  cron: string;
}

export const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
export const FIRST: Choice = { every: "weekdays", at: "08:00", weekday: 1, day: 1, cron: "0 8 * * 1-5" };

export function cronOf({ every, at, weekday, day, cron }: Choice): string {
  if (every === "cron") return cron.trim();
  const [hour, minute] = at.split(":").map(Number);
  const days = { day: "* * *", weekdays: "* * 1-5", week: `* * ${weekday}`, month: `${day} * *` }[every];
  return `${minute ?? 0} ${hour ?? 8} ${days}`;
}

export function choiceOf(cron: string): Choice {
  const match = /^(\d+) (\d+) (\*|\d+) \* (\*|1-5|[0-6])$/.exec(cron);
  if (!match) return { ...FIRST, every: "cron", cron };
  const [, minute = "", hour = "", day = "", weekday = ""] = match;
  const at = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  const choice = { ...FIRST, at, cron };
  if (day !== "*") return weekday === "*" ? { ...choice, every: "month", day: Number(day) } : { ...choice, every: "cron" };
  if (weekday === "*") return { ...choice, every: "day" };
  if (weekday === "1-5") return { ...choice, every: "weekdays" };
  return { ...choice, every: "week", weekday: Number(weekday) };
}

/** `every weekday at 08:00`. */
export function inWords(cron: string): string {
  const { every, at, weekday, day } = choiceOf(cron);
  switch (every) {
    case "day":
      return `every day at ${at}`;
    case "weekdays":
      return `every weekday at ${at}`;
    case "week":
      return `every ${WEEKDAYS[weekday]} at ${at}`;
    case "month":
      return `on day ${day} of every month at ${at}`;
    case "cron":
      return `at the times of ${cron}`;
  }
}

/** A time where the schedule is read, to the minute. */
export function shownAt(time: string, zone?: string): string {
  return new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone: zone }).format(new Date(time));
}
