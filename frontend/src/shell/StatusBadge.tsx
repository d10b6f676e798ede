/** Who answers: the model's name, the offline engine, or nobody at the moment. */
import { useQuery } from "@tanstack/react-query";
import { healthQuery } from "../api/queries";
import css from "./StatusBadge.module.css";

export function StatusBadge() {
  const { data, isError } = useQuery(healthQuery);
  if (isError) return <p className={css["standing"]} data-tone="wrong">Server away</p>;
  if (!data) return <p className={css["standing"]}>Connecting</p>;
  return (
    <p className={css["standing"]} data-tone={data.offline ? "plain" : "sure"}>
      <span className="hidden-text">Answers come from: </span>
      {data.offline ? "Offline engine" : data.model}
    </p>
  );
}
