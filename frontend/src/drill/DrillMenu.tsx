/** The ways on from what was pointed at, beside it. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef } from "react";
import { post } from "../api/client";
import type { DrillWay } from "../api/boardTypes";
import { placeBelow } from "../shell/placeBelow";
import css from "./Drill.module.css";
import type { Picked, Source, Step } from "./pick";

interface Props {
  source: Source;
  columns: readonly string[];
  picked: Picked;
  at: Element;
  onGo: (step: Step) => void;
  onClose: () => void;
}

export default function DrillMenu({ source, columns, picked, at, onGo, onClose }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const { data, error } = useQuery({
    queryKey: ["drill", source, picked],
    queryFn: ({ signal }) => {
      const asked = { preset: source.preset, sql: source.sql, columns, rows: picked.rows, column: picked.column };
      return post<{ ways: DrillWay[]; reason: string }>("/drill", asked, signal);
    },
  });

  useEffect(() => {
    const close = (event: Event) => {
      if (!list.current?.contains(event.target as Node)) onClose();
    };
    // a dialog around it hears Escape only when this is closed
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      onClose();
      if (at instanceof HTMLElement || at instanceof SVGElement) at.focus();
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("keydown", onKey, true);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("keydown", onKey, true);
    };
  }, [at, onClose]);

  useLayoutEffect(() => {
    if (!list.current) return;
    if (!list.current.matches(":popover-open")) list.current.showPopover();
    placeBelow(list.current, at.getBoundingClientRect(), "left");
    if (!list.current.contains(document.activeElement)) list.current.querySelector("button")?.focus();
  });

  const go = ({ label, sql }: DrillWay) => {
    onClose();
    onGo({ name: label, source: { ...source, sql } });
  };
  const ways = data?.ways ?? [];
  const told = error?.message ?? (data?.ways.length === 0 ? data.reason || "There is nothing behind this." : "");
  return (
    <div ref={list} className={css["ways"]} popover="manual" role="group" aria-label="From here">
      {!data && !error && <p role="status">Looking…</p>}
      {told && <p role="alert">{told}</p>}
      <ul>
        {[...ways.filter((way) => way.kind !== "by"), ...ways.filter((way) => way.kind === "by")].map((way) => (
          <li key={`${way.kind} ${way.label}`} data-kind={way.kind}>
            <button type="button" onClick={() => go(way)}>
              {way.label}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
