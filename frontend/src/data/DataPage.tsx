/** What is in a database: its tables and columns to look through, a diagram of how they hang together, what has
 * been verified about it, and its vocabulary. Each has an address. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { presetsQuery, schemaQuery } from "../api/queries";
import { Button } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { type DataView, go, paths } from "../shell/router";
import { Vocabulary } from "../vocabulary/Vocabulary";
import css from "./DataPage.module.css";
import { matching } from "./search";
import { TableDetail } from "./TableDetail";
import { TableList } from "./TableList";
import { VerifiedList } from "./VerifiedList";

const Diagram = lazy(() => import("./Diagram"));

const VIEWS: readonly { view: DataView; name: string }[] = [
  { view: "tables", name: "Tables" },
  { view: "diagram", name: "Diagram" },
  { view: "verified", name: "Verified questions" },
  { view: "vocabulary", name: "Vocabulary" },
];

export default function DataPage({ preset, view }: { preset: string; view: DataView }) {
  const { data, error, isPending } = useQuery(schemaQuery(preset));
  const presets = useQuery(presetsQuery);
  const [text, setText] = useState("");
  const [picked, setPicked] = useState<string | null>(null);
  const about = presets.data?.find((p) => p.id === preset);
  const tables = matching(data?.tables ?? [], text);
  const table = tables.find((t) => t.name === picked) ?? tables[0];

  function open(name: string) {
    setText("");
    setPicked(name);
    go(paths.data(preset));
  }

  return (
    <div className={css["page"]}>
      <header className={css["header"]}>
        <div>
          <h1 className={css["title"]}>{about?.name ?? preset}</h1>
          <p className={css["about"]}>{about?.description}</p>
        </div>
        <div className={css["views"]} role="group" aria-label="View">
          {VIEWS.map(({ view: each, name }) => (
            <Button key={each} aria-pressed={view === each} onClick={() => go(paths.data(preset, each))}>
              {name}
            </Button>
          ))}
        </div>
      </header>
      {error && (
        <p className={css["problem"]} role="alert">
          {error.message}
        </p>
      )}
      {isPending && <p className={css["note"]}>Reading the database…</p>}
      {data && data.tables.length === 0 && (view === "tables" || view === "diagram") && (
        <p className={css["note"]}>This database has no tables, so there is nothing to ask about yet.</p>
      )}
      {data && data.tables.length > 0 && view === "tables" && (
        <div className={css["split"]}>
          <div className={css["list"]}>
            <label className={css["search"]}>
              <Icon name="search" />
              <span className="hidden-text">Search tables, columns and comments</span>
              <input
                type="search"
                value={text}
                placeholder="Search tables and columns"
                onChange={(event) => setText(event.target.value)}
              />
            </label>
            <TableList tables={tables} current={table?.name ?? null} search={text} onPick={setPicked} />
          </div>
          {table ? (
            <TableDetail key={table.name} preset={preset} table={table} search={text} onOpen={open} />
          ) : (
            <p className={css["note"]}>Nothing is called that.</p>
          )}
        </div>
      )}
      {data && data.tables.length > 0 && view === "diagram" && (
        <Suspense fallback={<p className={css["note"]}>Drawing…</p>}>
          <Diagram name={about?.name ?? preset} tables={data.tables} onOpen={open} />
        </Suspense>
      )}
      {data && view === "vocabulary" && <Vocabulary preset={preset} tables={data.tables} />}
      {view === "verified" && <VerifiedList preset={preset} dialect={data?.dialect ?? "sqlite"} />}
    </div>
  );
}
