/** What the whole board is narrowed by. Anybody who looks at it may set them; its owner adds, keeps and removes them. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import type { BoardFilter, FilterValue } from "../api/boardTypes";
import { type BoardSource, filterValuesQuery } from "../api/queries";
import { Button } from "../shell/Button";
import { placeBelow } from "../shell/placeBelow";
import { useDismiss } from "../shell/useDismiss";
import css from "./FilterBar.module.css";
import { narrowed, PERIODS } from "./filterWords";

interface Props {
  source: BoardSource;
  filters: readonly (BoardFilter | null)[];
  values: readonly FilterValue[];
  onChange: (place: number, value: FilterValue) => void;
  /** Set while its owner arranges the board. */
  onRemove?: ((place: number) => void) | undefined;
  children?: ReactNode;
}

export function FilterBar({ source, filters, values, onChange, onRemove, children }: Props) {
  return (
    <div className={css["bar"]} role="group" aria-label="Filters">
      {filters.map(
        (filter, place) =>
          filter && (
            // a filter is known by its place
            <FilterButton key={place} filter={filter} value={values[place] ?? []}>
              {(close) => (
                <>
                  <FilterForm
                    source={source}
                    place={place}
                    filter={filter}
                    value={values[place] ?? []}
                    onChange={(value) => onChange(place, value)}
                    onClose={close}
                  />
                  {onRemove && (
                    <Button icon="trash" onClick={() => onRemove(place)}>
                      Remove the filter
                    </Button>
                  )}
                </>
              )}
            </FilterButton>
          ),
      )}
      {children}
    </div>
  );
}

interface ButtonProps {
  filter: BoardFilter;
  value: FilterValue;
  children: (close: () => void) => ReactNode;
}

function FilterButton({ filter, value, children }: ButtonProps) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  const box = useDismiss<HTMLDivElement>(open, close);
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!open || !panel.current || !box.current) return;
    panel.current.showPopover();
    placeBelow(panel.current, box.current.getBoundingClientRect(), "left");
    panel.current.querySelector<HTMLElement>("input, select, button")?.focus();
    const button = box.current.querySelector("button");
    return () => {
      if (document.activeElement === document.body) button?.focus();
    };
  }, [open, box]);
  return (
    <div ref={box}>
      <Button look="framed" icon="filter" aria-expanded={open} data-set={value.length > 0 || undefined} onClick={() => setOpen(!open)}>
        {filter.label}: {narrowed(filter, value)}
      </Button>
      {open && (
        <div ref={panel} className={css["panel"]} popover="manual" role="group" aria-label={`Filter by ${filter.label}`}>
          {children(close)}
        </div>
      )}
    </div>
  );
}

interface FormProps {
  source: BoardSource;
  place: number;
  filter: BoardFilter;
  value: FilterValue;
  onChange: (value: FilterValue) => void;
  onClose: () => void;
}

function FilterForm(props: FormProps) {
  if (props.filter.kind === "date") return <Period {...props} />;
  return props.filter.kind === "number" ? <Bounds {...props} type="number" /> : <Values {...props} />;
}

const ANY = "any time";
const SPAN = "from a day to a day";

function Period(props: FormProps) {
  const { value, onChange, onClose } = props;
  const [period] = value;
  const known = PERIODS.find((one) => one === period) ?? null;
  const now = value.length === 0 ? ANY : value.length === 2 ? SPAN : known;
  const [span, setSpan] = useState(now === SPAN);
  const [typed, setTyped] = useState(now === null ? (period ?? "") : "");
  return (
    <>
      <label className={css["field"]}>
        <span>Period</span>
        <select
          value={span ? SPAN : (now ?? "")}
          onChange={({ target }) => {
            setSpan(target.value === SPAN);
            if (target.value === ANY) onChange([]);
            else if (target.value !== SPAN && target.value !== "") onChange([target.value]);
          }}
        >
          {now === null && <option value="">{period}</option>}
          {[ANY, ...PERIODS, SPAN].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      {span ? (
        <Bounds {...props} type="date" />
      ) : (
        <form
          className={css["field"]}
          onSubmit={(event) => {
            event.preventDefault();
            if (!typed.trim()) return;
            onChange([typed.trim()]);
            onClose();
          }}
        >
          <label className={css["field"]}>
            <span>Or in words</span>
            <input value={typed} placeholder="2024, March 2024, last 90 days" maxLength={100} onChange={(event) => setTyped(event.target.value)} />
          </label>
          <Button type="submit">Show it</Button>
        </form>
      )}
    </>
  );
}

function Bounds({ filter, value, type, onChange, onClose }: FormProps & { type: "date" | "number" }) {
  const [low, setLow] = useState(value.length === 2 ? (value[0] ?? "") : "");
  const [high, setHigh] = useState(value.length === 2 ? (value[1] ?? "") : "");
  return (
    <form
      className={css["field"]}
      onSubmit={(event) => {
        event.preventDefault();
        onChange(low || high ? [low || null, high || null] : []);
        onClose();
      }}
    >
      <label className={css["field"]}>
        <span>{type === "date" ? "First day" : `Least ${filter.label}`}</span>
        <input type={type} step="any" value={low} onChange={(event) => setLow(event.target.value)} />
      </label>
      <label className={css["field"]}>
        <span>{type === "date" ? "Last day" : `Most ${filter.label}`}</span>
        <input type={type} step="any" value={high} onChange={(event) => setHigh(event.target.value)} />
      </label>
      <Button type="submit">Show them</Button>
    </form>
  );
}

function Values({ source, place, filter, value, onChange }: FormProps) {
  const [search, setSearch] = useState("");
  const { data, error, isFetching } = useQuery({
    ...filterValuesQuery(source, place, search.trim()),
    placeholderData: (before) => before,
  });
  const found = (data?.values ?? []).map((one) => String(one.value));
  const offered = [...value.filter((one) => one !== null && !found.includes(one)), ...found];
  const toggle = (one: string | null) =>
    onChange(value.includes(one) ? value.filter((other) => other !== one) : [...value, one]);
  return (
    <>
      <label className={css["field"]}>
        <span>Search {filter.label}</span>
        <input type="search" value={search} maxLength={200} onChange={(event) => setSearch(event.target.value)} />
      </label>
      {error && <p role="alert">{error.message}</p>}
      <div className={css["values"]} role="group" aria-label={`Values of ${filter.label}`} aria-busy={isFetching}>
        {[...offered, ...(data?.nulls || value.includes(null) ? [null] : [])].map((one) => (
          <label key={one ?? "\u0000"} className={css["value"]}>
            <input type="checkbox" checked={value.includes(one)} onChange={() => toggle(one)} />
            {one ?? <i>NULL</i>}
          </label>
        ))}
        {data && offered.length === 0 && <p>No such value.</p>}
      </div>
      <Button disabled={value.length === 0} onClick={() => onChange([])}>
        Show all
      </Button>
    </>
  );
}
