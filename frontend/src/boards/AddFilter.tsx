/** Adds a filter to a board: what its answers can be narrowed by, the columns of the most of them first. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import type { BoardFilter, FilterOffer } from "../api/boardTypes";
import { offersQuery } from "../api/queries";
import { axisTitle } from "../result/axisTitle";
import { Button } from "../shell/Button";
import { counted } from "../shell/counted";
import css from "../shell/Dialog.module.css";

interface Props {
  boardId: string;
  onAdd: (filter: BoardFilter) => void;
  onClose: () => void;
}

const KINDS = { date: "a period", value: "values", number: "from and to" } as const;
const keyOf = (offer: FilterOffer): string => `${offer.preset} ${offer.table}.${offer.column}`;

export default function AddFilter({ boardId, onAdd, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { data, error } = useQuery({ ...offersQuery(boardId), staleTime: 0 });
  const [chosen, setChosen] = useState<string | null>(null);
  const [also, setAlso] = useState<readonly string[]>([]);
  const [label, setLabel] = useState<string | null>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const offer = data?.find((one) => keyOf(one) === chosen) ?? data?.[0];
  // other answers may have their own column of the same kind, like the date of a payment beside that of an order
  const others = data?.filter((one) => offer && one !== offer && one.kind === offer.kind && one.table !== offer.table) ?? [];
  const name = label ?? (offer ? axisTitle(offer.column) : "");

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!offer || !name.trim()) return;
    const columns = [offer, ...others.filter((one) => also.includes(keyOf(one)))];
    onAdd({
      label: name.trim().slice(0, 100),
      kind: offer.kind,
      columns: columns.slice(0, 10).map(({ preset, table, column }) => ({ preset, table, column })),
      value: [],
    });
    dialog.current?.close();
  }

  return createPortal(
    <dialog ref={dialog} className={css["dialog"]} onClose={onClose} aria-labelledby="filter-title">
      <form className={css["form"]} onSubmit={submit}>
        <h2 id="filter-title" className={css["title"]}>
          Add a filter
        </h2>
        {error && <p role="alert">{error.message}</p>}
        {data?.length === 0 && <p>Nothing that these answers read can be filtered by.</p>}
        {!data && !error && <p role="status">Looking at what the answers read…</p>}
        {offer && (
          <>
            <label className={css["field"]}>
              <span>By</span>
              <select value={keyOf(offer)} onChange={(event) => setChosen(event.target.value)}>
                {data?.map((one) => (
                  <option key={keyOf(one)} value={keyOf(one)}>
                    {one.table}.{one.column}: {KINDS[one.kind]}, {counted(one.answers, "answer")}
                  </option>
                ))}
              </select>
            </label>
            <label className={css["field"]}>
              <span>Name</span>
              <input value={name} maxLength={100} onChange={(event) => setLabel(event.target.value)} autoComplete="off" />
            </label>
            {others.length > 0 && (
              <label className={css["field"]}>
                <span>For answers that do not read it</span>
                <select multiple value={[...also]} onChange={({ target }) => setAlso([...target.selectedOptions].map((o) => o.value))}>
                  {others.map((one) => (
                    <option key={keyOf(one)} value={keyOf(one)}>
                      {one.table}.{one.column}
                    </option>
                  ))}
                </select>
              </label>
            )}
          </>
        )}
        <div className={css["actions"]}>
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button look="filled" type="submit" disabled={!offer || !name.trim()}>
            Add
          </Button>
        </div>
      </form>
    </dialog>,
    document.body,
  );
}
