/** What can be chosen of a chart: its kind and order, and in a panel what it draws and how. A change shows at once. */
import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button, IconButton } from "../shell/Button";
import css from "./ChartView.module.css";
import { isPairwise, rolesOf } from "./chooseChart";
import { colourNumber } from "./drawChart";
import {
  CHART_NAMES,
  type Chart,
  COLOURS,
  FORMAT_NAMES,
  isUpright,
  type Look,
  lookOf,
  MANY_MEASURES,
  measuresOf,
  ORDER_NAMES,
  PALETTE_NAMES,
  STACK_NAMES,
} from "./look";
import { type Drawn, isOverTime, isSum, measureTitles, pointsOf } from "./points";

interface Props {
  look: Look;
  onLook: (look: Look) => void;
}

export function ChartKinds({ charts, look, onLook }: Props & { charts: readonly Chart[] }) {
  return (
    <>
      {charts.length > 1 && (
        <div className={css["kinds"]} role="group" aria-label="Kind of chart">
          {charts.map((chart) => (
            <Button key={chart.kind} aria-pressed={chart.kind === look.kind} onClick={() => onLook(withKind(look, chart, charts))}>
              {CHART_NAMES[chart.kind]}
            </Button>
          ))}
        </div>
      )}
      {isUpright(look.kind) && (
        <label className={css["order"]}>
          Sorted
          <select value={look.order} onChange={(event) => onLook({ ...look, order: event.target.value as Look["order"] })}>
            {Object.entries(ORDER_NAMES).map(([order, words]) => (
              <option key={order} value={order}>
                {words}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

const drawn = ({ x, y, series, more }: Look): string => JSON.stringify([x, y, series, more]);

/** Another kind of chart: what was chosen stays, as far as the kinds draw the same columns. */
function withKind(look: Look, chart: Chart, charts: readonly Chart[]): Look {
  const [before, after] = [lookOf(charts.find((each) => each.kind === look.kind) ?? look), lookOf(chart)];
  const next = { ...look, kind: after.kind };
  if (drawn(before) !== drawn(after)) {
    const { x, y, series, more } = after;
    Object.assign(next, { x, y, series, more });
  }
  if (look.stack === before.stack) next.stack = after.stack;
  if (look.top === before.top && look.order === before.order) Object.assign(next, { top: after.top, order: after.order });
  return next;
}

export function EditChart({ look, onLook, result, onClose }: Props & { result: Drawn; onClose: () => void }) {
  const panel = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const box = panel.current;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      close.current();
    };
    box?.focus();
    box?.addEventListener("keydown", onKey);
    return () => box?.removeEventListener("keydown", onKey);
  }, []);
  const set = (change: Partial<Look>) => onLook({ ...look, ...change });
  const { kind } = look;
  const { measures, times, categories } = rolesOf(result.columns, result.rows);
  const chosen = measuresOf(look);
  const upright = isUpright(kind);
  const several = MANY_MEASURES.has(kind);
  const timed = isOverTime(look, result);
  const across = upright ? [...categories, ...times] : kind === "scatter" ? measures : kind === "heatmap" ? categories : times;
  const colours = categories.filter((column) => column !== look.x && (kind === "scatter" || kind === "heatmap" || isPairwise(result.rows, look.x, column)));
  const { series } = pointsOf(look, result);
  const named = chosen.length > 1 || look.series >= 0;
  const stackable = (upright || kind === "area") && series.length > 1 && chosen.every((column) => isSum(column, result));
  const names = (columns: readonly number[]) => {
    const titles = measureTitles(columns, result);
    return columns.map((column, index) => [String(column), titles[index] ?? ""] as const);
  };

  function measure(column: number, on: boolean) {
    const next = on ? [...chosen, column].toSorted((a, b) => a - b) : chosen.filter((each) => each !== column);
    const [y, ...more] = next;
    if (y !== undefined) set({ y, more });
  }

  return (
    <div ref={panel} className={css["panel"]} role="group" aria-label="Edit chart" tabIndex={-1}>
      <div className={css["panelHead"]}>
        <span>Edit chart</span>
        <IconButton icon="cross" label="Close the panel" onClick={onClose} />
      </div>
      <TextField label="Title" value={look.title} onText={(title) => set({ title })} />
      {across.length > 1 && kind !== "histogram" && kind !== "number" && (
        <Choice
          label={upright || kind === "heatmap" ? "Categories" : "Across"}
          value={String(look.x)}
          options={names(across)}
          onChoice={(x) => set({ x: Number(x), series: look.series === Number(x) || several ? -1 : look.series })}
        />
      )}
      {several && measures.length > 1 && (
        <fieldset className={css["checks"]}>
          <legend>Measures</legend>
          {names(measures).map(([column, name]) => (
            <Check
              key={column}
              label={name}
              checked={chosen.includes(Number(column))}
              disabled={chosen.length === 1 && chosen[0] === Number(column)}
              onCheck={(on) => measure(Number(column), on)}
            />
          ))}
        </fieldset>
      )}
      {!several && measures.length > 1 && (
        <Choice label="Measure" value={String(look.y)} options={names(measures)} onChoice={(y) => set({ y: Number(y) })} />
      )}
      {kind === "heatmap" && (
        <Choice label="Down the side" value={String(look.series)} options={names(colours)} onChoice={(column) => set({ series: Number(column) })} />
      )}
      {(several || kind === "scatter") && chosen.length === 1 && colours.length > 0 && (
        <Choice
          label="A colour for each"
          value={String(look.series)}
          options={[["-1", "(one colour)"], ...names(colours)]}
          onChoice={(column) => set({ series: Number(column) })}
        />
      )}
      {stackable && (
        <Choice label="Values stand" value={look.stack} options={Object.entries(STACK_NAMES)} onChoice={(stack) => set({ stack: stack as Look["stack"] })} />
      )}
      {upright && !timed && (
        <NumberField label="Only the largest" value={look.top} most={100} empty="all" onNumber={(top) => set({ top: top === 0 ? null : top })} />
      )}
      {(kind === "line" || kind === "scatter") && (
        <Check label="Begin at zero" checked={look.zero ?? kind === "line"} onCheck={(zero) => set({ zero })} />
      )}
      {kind !== "number" && kind !== "trend" && (
        <>
          <TextField label={kind === "bar" ? "Title of the categories" : "Title of the lower axis"} value={look.x_title} onText={(x_title) => set({ x_title })} />
          <TextField label={kind === "bar" ? "Title of the values" : "Title of the side axis"} value={look.y_title} onText={(y_title) => set({ y_title })} />
        </>
      )}
      <Choice label="Numbers" value={look.format} options={Object.entries(FORMAT_NAMES)} onChoice={(format) => set({ format: format as Look["format"] })} />
      {look.format === "currency" && (
        <TextField
          label="Currency (three letters)"
          value={look.currency}
          most={3}
          onText={(text) => /^[a-z]{3}$/i.test(text) && set({ currency: text.toUpperCase() })}
        />
      )}
      <NumberField label="Decimals" value={look.decimals} most={6} empty="as needed" onNumber={(decimals) => set({ decimals })} />
      {kind !== "number" && (
        <Choice label="Colours" value={look.palette} options={Object.entries(PALETTE_NAMES)} onChoice={(palette) => set({ palette: palette as Look["palette"] })} />
      )}
      {kind !== "number" && kind !== "heatmap" &&
        series.map((name) => {
          const number = colourNumber(look, name, series);
          return (
            <Choice
              key={name}
              label={named ? `Colour of ${name || "empty text"}` : "Colour"}
              value={String(number)}
              options={COLOURS[look.palette].map((colour, index) => [String(index + 1), colour])}
              swatch={<span className={css["swatch"]} data-palette={look.palette} style={{ background: `var(--c${number})` }} />}
              onChoice={(colour) => set({ colours: { ...look.colours, [name]: Number(colour) } })}
            />
          );
        })}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChoice: (value: string) => void;
  swatch?: ReactNode;
}

function Choice({ label, value, options, onChoice, swatch }: ChoiceProps) {
  return (
    <label className={css["field"]}>
      <span>
        {swatch}
        {label}
      </span>
      <select value={value} onChange={(event) => onChoice(event.target.value)}>
        {options.map(([key, words]) => (
          <option key={key} value={key}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function Check({ label, checked, disabled, onCheck }: { label: string; checked: boolean; disabled?: boolean; onCheck: (on: boolean) => void }) {
  return (
    <label className={css["check"]}>
      <input type="checkbox" checked={checked} disabled={disabled} onChange={(event) => onCheck(event.target.checked)} />
      {label}
    </label>
  );
}

function TextField({ label, value, most = 200, onText }: { label: string; value: string; most?: number; onText: (text: string) => void }) {
  const id = useId();
  return (
    <div className={css["field"]}>
      <label htmlFor={id}>{label}</label>
      <input id={id} defaultValue={value} maxLength={most} autoComplete="off" onChange={(event) => onText(event.target.value)} />
    </div>
  );
}

interface NumberProps {
  label: string;
  value: number | null;
  most: number;
  /** What an empty field means. */
  empty: string;
  onNumber: (value: number | null) => void;
}

function NumberField({ label, value, most, empty, onNumber }: NumberProps) {
  return (
    <label className={css["field"]}>
      <span>{label}</span>
      <input
        type="number"
        inputMode="numeric"
        min={0}
        max={most}
        placeholder={empty}
        value={value ?? ""}
        onChange={({ target }) => onNumber(target.value === "" ? null : Math.min(most, Math.max(0, Math.trunc(Number(target.value)))))}
      />
    </label>
  );
}
