/** The times of a schedule, as people choose them. */
import dialogCss from "../shell/Dialog.module.css";
import css from "./Schedules.module.css";
import { type Choice, cronOf, type Every, WEEKDAYS } from "./times";

const EVERY: [Every, string][] = [
  ["day", "Every day"],
  ["weekdays", "Every weekday"],
  ["week", "Every week"],
  ["month", "Every month"],
  ["cron", "As a cron expression"],
];
const ZONES = Intl.supportedValuesOf("timeZone");

interface WhenProps {
  choice: Choice;
  onChange: (choice: Choice) => void;
  zone: string;
  onZone: (zone: string) => void;
}

export function When({ choice, onChange, zone, onZone }: WhenProps) {
  return (
    <div className={css["row"]}>
      <label className={dialogCss["field"]}>
        <span>When</span>
        <select value={choice.every} onChange={(e) => onChange({ ...choice, every: e.target.value as Every, cron: cronOf(choice) })}>
          {EVERY.map(([every, name]) => (
            <option key={every} value={every}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {choice.every === "week" && (
        <label className={dialogCss["field"]}>
          <span>On</span>
          <select value={choice.weekday} onChange={(e) => onChange({ ...choice, weekday: Number(e.target.value) })}>
            {WEEKDAYS.map((name, day) => (
              <option key={name} value={day}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {choice.every === "month" && (
        <label className={dialogCss["field"]}>
          <span>On day</span>
          <input
            type="number"
            min={1}
            max={31}
            value={choice.day}
            onChange={(e) => onChange({ ...choice, day: Number(e.target.value) })}
          />
        </label>
      )}
      {choice.every === "cron" ? (
        <label className={dialogCss["field"]}>
          <span>Cron expression</span>
          <input value={choice.cron} autoComplete="off" onChange={(e) => onChange({ ...choice, cron: e.target.value })} />
        </label>
      ) : (
        <label className={dialogCss["field"]}>
          <span>At</span>
          <input type="time" required value={choice.at} onChange={(e) => onChange({ ...choice, at: e.target.value })} />
        </label>
      )}
      <label className={dialogCss["field"]}>
        <span>Time zone</span>
        <select value={zone} onChange={(e) => onZone(e.target.value)}>
          {[...new Set([zone, "UTC", ...ZONES])].map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
    </div>
  );
}
