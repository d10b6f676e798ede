/** The rail: a new question, the threads so far, the data, and how things stand. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { healthQuery, presetsQuery, threadsQuery } from "../api/queries";
import { useChosenPreset } from "../ask/chosenPreset";
import { ThreadLink } from "../threads/ThreadLink";
import { Button } from "./Button";
import { Icon } from "./Icon";
import { Mark } from "./Mark";
import { followLink, paths, type Place } from "./router";
import css from "./Sidebar.module.css";
import { StatusBadge } from "./StatusBadge";
import { ThemeSwitch } from "./ThemeSwitch";

export function Sidebar({ open, place }: { open: boolean; place: Place }) {
  const [typed, setTyped] = useState<string | null>(null);
  const search = typed ?? "";
  const wanted = useDeferredValue(search.trim());
  const threads = useInfiniteQuery(threadsQuery(wanted));
  const presets = useQuery(presetsQuery);
  const health = useQuery(healthQuery);
  const [preset] = useChosenPreset();
  const list = threads.data?.pages.flatMap((page) => page.threads) ?? [];
  const names = new Map(presets.data?.map((p) => [p.id, p.name]));

  return (
    <nav className={css["rail"]} data-open={open} aria-label="Threads and data">
      <div className={css["top"]}>
        <Mark />
      </div>
      <div className={css["ways"]}>
        <a className={css["way"]} href={paths.home} onClick={followLink} aria-current={current(place.name === "home")}>
          <Icon name="plus" /> New question
        </a>
        {preset && (
          <a
            className={css["way"]}
            href={paths.data(preset.id)}
            onClick={followLink}
            aria-current={current(place.name === "data")}
          >
            <Icon name="database" /> Browse the data
          </a>
        )}
        {preset && (
          <a
            className={css["way"]}
            href={paths.sql(preset.id)}
            onClick={followLink}
            aria-current={current(place.name === "sql")}
          >
            <Icon name="code" /> Write SQL
          </a>
        )}
        <a
          className={css["way"]}
          href={paths.boards}
          onClick={followLink}
          aria-current={current(place.name === "boards" || place.name === "board")}
        >
          <Icon name="board" /> Boards
        </a>
        <a
          className={css["way"]}
          href={paths.activity}
          onClick={followLink}
          aria-current={current(place.name === "activity")}
        >
          <Icon name="clock" /> Activity
        </a>
        {health.data?.lab && (
          <a className={css["way"]} href={paths.lab} onClick={followLink} aria-current={current(place.name === "lab")}>
            <Icon name="up" /> Lab
          </a>
        )}
      </div>
      <div className={css["threads"]}>
        <h2 className={css["heading"]}>Threads</h2>
        {/* once typed into, it stays: it would take the focus with it */}
        {(list.length > 3 || typed !== null) && (
          <label className={css["search"]}>
            <Icon name="search" />
            <span className="hidden-text">Search the threads</span>
            <input type="search" value={search} placeholder="Search" onChange={(event) => setTyped(event.target.value)} />
          </label>
        )}
        {list.length === 0 && <p className={css["none"]}>{threads.isPending ? "…" : wanted ? "No thread holds that." : "Questions you ask appear here."}</p>}
        <ul>
          {list.map((thread) => (
            <ThreadLink
              key={thread.thread_id}
              thread={thread}
              database={names.get(thread.preset) ?? thread.preset}
              current={place.name === "thread" && place.threadId === thread.thread_id}
            />
          ))}
        </ul>
        {threads.hasNextPage && (
          <Button onClick={() => void threads.fetchNextPage()} disabled={threads.isFetchingNextPage}>
            Older threads
          </Button>
        )}
      </div>
      <div className={css["foot"]}>
        <StatusBadge />
        <ThemeSwitch />
      </div>
    </nav>
  );
}

const current = (is: boolean): "page" | undefined => (is ? "page" : undefined);
