/** Results that one came to from another, each with its way, its SQL and its rows; a click on the way leads back. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { post } from "../api/client";
import { schemaQuery } from "../api/queries";
import type { SqlResult } from "../api/types";
import { ResultView } from "../result/ResultPanel";
import { resultOf } from "../result/results";
import { Button, IconButton } from "../shell/Button";
import { useFormatted } from "../sql/format";
import { Refusal } from "../sql/Refusal";
import { SqlText } from "../sql/SqlText";
import css from "./Drill.module.css";
import { DrillContext, type Step } from "./pick";

interface Props {
  start: Step;
  first: Step;
  onClose: () => void;
}

export default function DrillDialog({ start, first, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [steps, setSteps] = useState<readonly Step[]>([first]);
  const further = useCallback((step: Step) => setSteps((before) => [...before, step]), []);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const last = steps.at(-1) ?? first;
  const back = (count: number) => (count === 0 ? dialog.current?.close() : setSteps(steps.slice(0, count)));
  return createPortal(
    <dialog ref={dialog} className={css["dialog"]} aria-label="Behind the figure" onClose={onClose}>
      <div className={css["head"]}>
        <nav aria-label="Way here">
          <ol className={css["way"]}>
            {[start, ...steps].map((step, index) => (
              // the same step may come twice
              <li key={index}>
                {index === steps.length ? (
                  <span aria-current="step">{step.name}</span>
                ) : (
                  <button type="button" onClick={() => back(index)}>
                    {step.name}
                  </button>
                )}
              </li>
            ))}
          </ol>
        </nav>
        <Button onClick={() => back(steps.length - 1)}>Back</Button>
        <IconButton icon="cross" label="Close" onClick={() => dialog.current?.close()} />
      </div>
      <DrillContext value={further}>
        <StepView key={last.source.sql} step={last} name={[start, ...steps].map((step) => step.name).join(" · ")} />
      </DrillContext>
    </dialog>,
    document.body,
  );
}

function StepView({ step: { source }, name }: { step: Step; name: string }) {
  const { data, error } = useQuery({
    queryKey: ["drilled", source],
    queryFn: ({ signal }) => post<SqlResult>("/sql", { ...source, question: name }, signal),
    staleTime: Infinity,
  });
  const schema = useQuery(schemaQuery(source.preset));
  const sql = useFormatted(source.sql, schema.data?.dialect ?? "sqlite");
  const result = useMemo(
    () => data && resultOf(data, { runId: data.run_id, title: name, preset: source.preset }),
    [data, name, source.preset],
  );
  return (
    <div className={css["step"]}>
      {error && <p role="alert">{error.message}</p>}
      {!data && !error && <p role="status">Running…</p>}
      {data && data.status !== "success" && <Refusal result={data} />}
      {data?.status === "success" && result && <ResultView traced={null} name={name} result={result} />}
      <SqlText sql={sql} label="SQL of these rows" />
    </div>
  );
}
