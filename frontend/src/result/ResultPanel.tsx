/** The rows of a run, as a table or a chart, with what can be taken away of them. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { manyRowsQuery, rowsQuery } from "../api/queries";
import { useDrill } from "../drill/useDrill";
import type { RunState } from "../run/state";
import { seconds } from "../run/steps";
import { Button } from "../shell/Button";
import { chartsOf, preferred } from "./chooseChart";
import { cellText } from "./columnKinds";
import { type ChartKind, type Look, lookOf } from "./look";
import css from "./ResultPanel.module.css";
import { type CellPlace, ResultTable } from "./ResultTable";
import { type Result, resultsOf } from "./results";
import { ExportMenu } from "./ExportMenu";
import { KeepButton } from "./KeepButton";

/** A result that was cut off in the stream: how long it really is, the server finds out when asked for its rows. */
function useWhole(result: Result): Result {
  const request = { runId: result.runId ?? "", task: result.task, sort: null, filters: [] };
  const { data } = useQuery({ ...rowsQuery(request, 0), enabled: result.truncated && result.runId !== null });
  return useMemo(() => (data ? { ...result, total: data.total, truncated: data.truncated } : result), [result, data]);
}

/** A result with more rows than came with it, once a chart is to be drawn of them. */
function useMore(result: Result, wanted: boolean): Result {
  const request = { runId: result.runId ?? "", task: result.task, sort: null, filters: [] };
  const enabled = wanted && result.runId !== null && result.rows.length < result.total;
  const { data } = useQuery({ ...manyRowsQuery(request), enabled });
  return useMemo(() => (data ? { ...result, rows: data.rows } : result), [result, data]);
}

const ChartView = lazy(() => import("./ChartView"));

interface Props {
  run: RunState;
  traced: CellPlace | null;
}

export function ResultPanel({ run, traced }: Props) {
  const { attempts, plan, answer, runId, preset } = run;
  const results = useMemo(() => resultsOf({ attempts, plan, answer, runId, preset }), [attempts, plan, answer, runId, preset]);
  const [picked, setPicked] = useState<string | null>(null);
  if (traced?.reveal && traced.task !== picked) setPicked(traced.task);
  const shown = results.find((result) => result.task === picked) ?? results.at(-1);
  const settled = run.status !== "running";
  const result = useMemo(() => (shown && !settled ? { ...shown, runId: null } : shown), [shown, settled]);
  if (!shown || !result) return null;
  return (
    <div className={css["panel"]}>
      {results.length > 1 && (
        <div className={css["tasks"]} role="group" aria-label="Results of the plan's tasks">
          {results.map((each, index) => (
            <Button key={each.task} aria-pressed={each === shown} onClick={() => setPicked(each.task)}>
              {index + 1}. {each.title}
            </Button>
          ))}
        </div>
      )}
      <ResultView
        // another attempt may have other columns, and what was chosen for one does not fit the other
        key={JSON.stringify([shown.task, shown.columns])}
        result={result}
        traced={traced?.task === shown.task ? traced : null}
        name={answer?.read_as || run.question}
        asked={answer?.view ?? ""}
        keepable={shown === results.at(-1)}
      />
    </div>
  );
}

/** Charts that say more at a glance than their table; the others are a click away. */
const SAYS_MORE: ReadonlySet<ChartKind> = new Set(["number", "line", "heatmap"]);

interface ViewProps {
  result: Result;
  traced: CellPlace | null;
  name: string;
  /** How the question wants to see the rows, as the answer says: `table`, `chart`, a kind of chart; "" where it does not. */
  asked?: string;
  /** Whether this is the result that is kept with its run: the one of its last task. */
  keepable?: boolean;
}

export function ResultView({ result: first, traced, name, asked = "", keepable = true }: ViewProps) {
  const result = useWhole(first);
  const [chosen, setView] = useState<"table" | "chart" | null>(null);
  const [picked, setPicked] = useState<Look | null>(null);
  const [likely] = useMemo(() => chartsOf(result), [result]);
  const isChart = asked && asked !== "file" ? asked !== "table" : likely && SAYS_MORE.has(likely.kind);
  const view = chosen ?? (isChart ? "chart" : "table");
  const drawn = useMore(result, view === "chart");
  const charts = useMemo(() => preferred(chartsOf(drawn), asked), [drawn, asked]);
  const best = charts[0];
  const look = useMemo(() => {
    if (picked && charts.some((chart) => chart.kind === picked.kind)) return picked;
    return best ? lookOf(best) : null;
  }, [picked, charts, best]);
  const [filtering, setFiltering] = useState(false);
  const [found, setFound] = useState<number | null>(null);
  const box = useRef<HTMLElement>(null);
  const revealed = traced?.reveal ?? false;
  if (revealed && view !== "table") setView("table");
  if (revealed && filtering) setFiltering(false);
  useEffect(() => {
    if (revealed) box.current?.scrollIntoView({ block: "nearest" });
  }, [revealed]);
  const shown = look === null ? "table" : view;
  const { onPick, onMark, drill } = useDrill(drawn, name);
  return (
    <section ref={box} role="group" className={css["result"]} aria-label="Result">
      <div className={css["head"]}>
        {charts.length > 0 && (
          <div className={css["views"]} role="group" aria-label="Show as">
            <Button aria-pressed={shown === "table"} onClick={() => setView("table")}>
              Table
            </Button>
            <Button aria-pressed={shown === "chart"} onClick={() => setView("chart")}>
              Chart
            </Button>
          </div>
        )}
        <p className={css["count"]} role="status">
          {found !== null && found !== result.total && `${cellText(found)} of `}
          {cellText(result.total)} {result.total === 1 ? "row" : "rows"}
          {result.truncated && <span className={css["cut"]}> · cut off, there are more</span>}
          {result.milliseconds !== null && <span className={css["time"]}> · {seconds(result.milliseconds)}</span>}
        </p>
        <div className={css["tools"]}>
          {shown === "table" && result.total > 1 && result.runId && (
            <Button compact icon="filter" aria-pressed={filtering} onClick={() => setFiltering(!filtering)}>
              Filter
            </Button>
          )}
          {result.runId && <ExportMenu result={result} name={name} />}
          {result.runId && keepable && <KeepButton runId={result.runId} name={name} look={shown === "chart" ? look : null} />}
        </div>
      </div>
      {shown === "table" || look === null ? (
        <ResultTable result={result} traced={traced} filtering={filtering} onFound={setFound} onPick={onPick} />
      ) : (
        <Suspense fallback={<div className={css["drawing"]}>Drawing…</div>}>
          <ChartView result={drawn} charts={charts} look={look} onLook={setPicked} name={name} onPick={onMark} />
        </Suspense>
      )}
      {drill}
    </section>
  );
}
