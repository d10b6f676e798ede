/** Who answers: the model's name, the offline engine, or nobody at the moment. Those who may choose the model here. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { healthQuery, modelQuery } from "../api/queries";
import css from "./StatusBadge.module.css";

const ModelDialog = lazy(() => import("./ModelDialog"));

export function StatusBadge() {
  const { data, isError } = useQuery(healthQuery);
  const setting = useQuery({ ...modelQuery, enabled: data !== undefined });
  const [open, setOpen] = useState(false);
  if (isError) return <p className={css["standing"]} data-tone="wrong">Server away</p>;
  if (!data) return <p className={css["standing"]}>Connecting</p>;
  const tone = data.offline ? "plain" : "sure";
  const name = data.offline ? "Offline engine" : data.model;
  if (!setting.data?.may_change)
    return (
      <p className={css["standing"]} data-tone={tone}>
        <span className="hidden-text">Answers come from: </span>
        {name}
      </p>
    );
  return (
    <>
      <button
        type="button"
        className={`${css["standing"]} ${css["change"]}`}
        data-tone={tone}
        aria-haspopup="dialog"
        title="Choose the model"
        onClick={() => setOpen(true)}
      >
        <span className="hidden-text">Choose the model. Answers come from: </span>
        {name}
      </button>
      {open && (
        <Suspense fallback={null}>
          <ModelDialog now={setting.data} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
