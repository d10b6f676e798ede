/** The small models that can be fetched to the server's machine: what they need, and how far they have come. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef } from "react";
import { post, remove } from "../api/client";
import type { LocalModel } from "../api/modelTypes";
import { localModelsQuery } from "../api/queries";
import { Button } from "./Button";
import css from "./Dialog.module.css";

export function LocalModels({ onReady, busy }: { onReady: (name: string) => void; busy: boolean }) {
  const client = useQueryClient();
  const models = useQuery(localModelsQuery);
  const change = useMutation({
    mutationFn: (name: string | null) => (name === null ? remove("/model/local") : post("/model/local", { name })),
    onSettled: () => client.invalidateQueries({ queryKey: localModelsQuery.queryKey }),
  });
  const fetching = useRef("");
  const ready = useEffectEvent((name: string) => {
    void client.invalidateQueries({ queryKey: ["model"], exact: true });
    void client.invalidateQueries({ queryKey: ["health"] });
    onReady(name);
  });
  useEffect(() => {
    const came = models.data?.find((each) => each.name === fetching.current && each.state === "fetched");
    fetching.current = models.data?.find((each) => each.state === "fetching")?.name ?? "";
    if (came && !came.needs) ready(came.name);
  }, [models.data]);

  if (!models.data?.length) return null;
  const needs = models.data.find((each) => each.needs)?.needs;
  return (
    <div role="group" aria-label="Small models for this machine" className={css["found"]}>
      {models.data.map((each) => (
        <div key={each.name}>
          {each.state === "absent" && (
            <Button look="framed" onClick={() => change.mutate(each.name)} disabled={change.isPending}>
              {`${each.bytes > 0 ? "Go on getting" : "Get"} ${each.title}`}
            </Button>
          )}
          {each.state === "fetching" && (
            <Button look="framed" onClick={() => change.mutate(null)} disabled={change.isPending}>
              {`Stop getting ${each.title}`}
            </Button>
          )}
          {each.state === "fetched" && (
            <Button look="framed" onClick={() => onReady(each.name)} disabled={busy || each.needs !== ""}>
              {`Try ${each.title}`}
            </Button>
          )}
          {each.state === "fetching" ? (
            <progress aria-label={`Getting ${each.title}`} value={each.bytes} max={each.size} />
          ) : (
            <p className={css["hint"]}>{facts(each)}</p>
          )}
          {each.state === "fetching" && <p className={css["hint"]}>{`${gigabytes(each.bytes)} of ${gigabytes(each.size)}`}</p>}
          {each.problem && (
            <p className={css["problem"]} role="alert">
              {each.problem}
            </p>
          )}
        </div>
      ))}
      {needs && <p className={css["hint"]}>{needs}</p>}
      {change.error && (
        <p className={css["problem"]} role="alert">
          {change.error.message}
        </p>
      )}
    </div>
  );
}

function facts({ state, size, memory, licence, accuracy, seconds }: LocalModel): string {
  const measured = accuracy === null ? "" : ` Right on ${Math.round(accuracy * 100)} % of a public test's questions`;
  const pace = measured && seconds !== null ? `, ${seconds} s each` : "";
  const end = measured && ".";
  return `${gigabytes(size)} ${state === "fetched" ? "on the disk" : "to download"}, ${gigabytes(memory)} of memory, ${licence}. It answers on this machine alone.${measured}${pace}${end}`;
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
