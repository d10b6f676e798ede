/** Says what a word means in this database: a table, a column or a condition. Later questions use it, this one first. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { post } from "../api/client";
import { schemaQuery } from "../api/queries";
import type { TaughtTerm, TermRequest } from "../api/types";
import { Button } from "../shell/Button";
import css from "./Teach.module.css";

interface Props {
  preset: string;
  /** What the question left open; the first is offered. */
  words: readonly string[];
  onTaught?: (() => void) | undefined;
}

export function Teach({ preset, words, onTaught }: Props) {
  const client = useQueryClient();
  const id = useId();
  const [term, setTerm] = useState(words[0] ?? "");
  const [means, setMeans] = useState("");
  const { data } = useQuery(schemaQuery(preset));
  const places = (data?.tables ?? []).flatMap((table) => [
    table.name,
    ...table.columns.map((column) => `${table.name}.${column.name}`),
  ]);
  const teaching = useMutation({
    mutationFn: () => post<TaughtTerm>("/terms", { preset, term, means } satisfies TermRequest),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["terms", preset] });
      onTaught?.();
    },
  });
  const teach = (event: FormEvent) => {
    event.preventDefault();
    if (term.trim() && means.trim()) teaching.mutate();
  };
  return (
    <form className={css["teach"]} aria-label="Teach a word" onSubmit={teach}>
      <label>
        The word
        <input value={term} maxLength={100} list={`${id}-words`} onChange={(event) => setTerm(event.target.value)} />
      </label>
      <datalist id={`${id}-words`}>
        {words.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </datalist>
      <label>
        means this table, column or condition
        <input
          value={means}
          maxLength={1000}
          list={`${id}-places`}
          placeholder="table, table.column or table.column > 5"
          onChange={(event) => setMeans(event.target.value)}
        />
      </label>
      <datalist id={`${id}-places`}>
        {places.map((place) => (
          <option key={place}>{place}</option>
        ))}
      </datalist>
      <Button type="submit" look="framed" icon="check" disabled={teaching.isPending}>
        {onTaught ? "Teach it and ask again" : "Teach it"}
      </Button>
      <p role="status">
        {teaching.isSuccess && `“${teaching.data.term}” means ${teaching.data.means} from now on. Taught words are listed with the data.`}
        {teaching.error && teaching.error.message}
      </p>
    </form>
  );
}
