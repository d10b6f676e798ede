/** The ways on from a result: a cell or a mark that is chosen opens a list of them, and one of the list a dialog. */
import { lazy, type ReactNode, Suspense, useCallback, useContext, useState } from "react";
import type { Result } from "../result/results";
import { DrillContext, type OnPick, type Picked, type Step } from "./pick";

const DrillMenu = lazy(() => import("./DrillMenu"));
const DrillDialog = lazy(() => import("./DrillDialog"));

export function useDrill(result: Pick<Result, "columns" | "source">, name: string): [OnPick | undefined, ReactNode] {
  const further = useContext(DrillContext);
  const [picked, setPicked] = useState<{ picked: Picked; at: Element } | null>(null);
  const [first, setFirst] = useState<Step | null>(null);
  const onPick = useCallback<OnPick>((one, at) => setPicked({ picked: one, at }), []);
  const { source } = result;
  if (!source) return [undefined, null];
  return [
    onPick,
    <Suspense key="drill" fallback={null}>
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
    </Suspense>,
  ];
}
