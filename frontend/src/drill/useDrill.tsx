/** The ways on from a result: a cell or a mark that is chosen opens a list of them, and one of the list a dialog. */
import { lazy, type ReactNode, Suspense, useCallback, useContext, useState } from "react";
import type { OnPick as OnMark } from "../result/followMarks";
import type { Result } from "../result/results";
import { DrillContext, type OnPick, type Picked, type Step } from "./pick";

const DrillMenu = lazy(() => import("./DrillMenu"));
const DrillDialog = lazy(() => import("./DrillDialog"));

interface Drill {
  onPick: OnPick | undefined;
  onMark: OnMark | undefined;
  drill: ReactNode;
}

/** What hears the cells of a result's table and the marks of its chart, and what they open. */
export function useDrill(result: Pick<Result, "columns" | "rows" | "preset" | "sql">, name: string): Drill {
  const further = useContext(DrillContext);
  const [picked, setPicked] = useState<{ picked: Picked; at: Element } | null>(null);
  const [first, setFirst] = useState<Step | null>(null);
  const { preset, sql, rows } = result;
  const onPick = useCallback<OnPick>((one, at) => setPicked({ picked: one, at }), []);
  const onMark: OnMark = (mark, at) => onPick({ rows: mark.rows.flatMap((row) => (rows[row] ? [rows[row]] : [])), column: mark.column }, at);
  if (!preset || !sql) return { onPick: undefined, onMark: undefined, drill: null };
  const source = { preset, sql };
  const drill = (
    <Suspense fallback={null}>
      {picked && (
        <DrillMenu
          source={source}
          columns={result.columns}
          picked={picked.picked}
          at={picked.at}
          onGo={further ?? setFirst}
          onClose={() => setPicked(null)}
        />
      )}
      {first && <DrillDialog start={{ name, source }} first={first} onClose={() => setFirst(null)} />}
    </Suspense>
  );
  return { onPick, onMark, drill };
}
