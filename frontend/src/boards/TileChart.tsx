/** The chart of a kept answer, edited on its tile: what is chosen shows at once, and stays when it is saved. */
import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { patch } from "../api/client";
import type { KeptAnswer } from "../api/boardTypes";
import { chartsOf } from "../result/chooseChart";
import { ChartKinds, EditChart } from "../result/EditChart";
import { type Look, lookOf } from "../result/look";
import type { Result } from "../result/results";
import { Button } from "../shell/Button";
import css from "./Tile.module.css";

interface Props {
  keptId: string;
  result: Result;
  /** Null: a table is shown. */
  look: Look | null;
  draft: Look | null;
  onDraft: (draft: Look | null) => void;
  onSaved: (answer: KeptAnswer) => void;
}

export default function TileChart({ keptId, result, look, draft, onDraft, onSaved }: Props) {
  const opener = useRef<HTMLDivElement>(null);
  const charts = chartsOf(result);
  const first = look ?? (charts[0] ? lookOf(charts[0]) : null);
  const saving = useMutation({
    mutationFn: (change: { chart: Look } | { as_table: true }) => patch<KeptAnswer>(`/kept/${keptId}`, change),
    onSuccess: (saved) => {
      onSaved(saved);
      close();
    },
  });
  function close() {
    onDraft(null);
    requestAnimationFrame(() => opener.current?.querySelector("button")?.focus());
  }
  if (!first) return null;
  return (
    <div ref={opener} className={css["details"]}>
      {draft ? (
        <>
          <div>
            <ChartKinds charts={charts} look={draft} onLook={onDraft} />
          </div>
          <EditChart look={draft} onLook={onDraft} result={result} onClose={close} />
          {saving.error && (
            <p className={css["problem"]} role="alert">
              {saving.error.message}
            </p>
          )}
          <div className={css["parameters"]}>
            <Button look="filled" disabled={saving.isPending} onClick={() => saving.mutate({ chart: draft })}>
              Save the chart
            </Button>
            <Button disabled={saving.isPending} onClick={() => saving.mutate({ as_table: true })}>
              Show as a table
            </Button>
          </div>
        </>
      ) : (
        <div>
          <Button look="framed" icon="edit" onClick={() => onDraft(first)}>
            Edit chart
          </Button>
        </div>
      )}
    </div>
  );
}
