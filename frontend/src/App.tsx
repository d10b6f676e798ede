/** The frame: what is always there, and the place that one is at. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useState } from "react";
import { healthQuery, presetsQuery } from "./api/queries";
import css from "./App.module.css";
import { choosePreset } from "./ask/chosenPreset";
import { Home } from "./ask/Home";
import { NotFound } from "./shell/NotFound";
import { Notices } from "./shell/Notices";
import { go, paths, type Place, placeOf, usePath } from "./shell/router";
import { Sidebar } from "./shell/Sidebar";
import { TokenDialog } from "./shell/TokenDialog";
import { TopBar } from "./shell/TopBar";
import { RunPage } from "./threads/RunPage";
import { ThreadPage } from "./threads/ThreadPage";

const DataPage = lazy(() => import("./data/DataPage"));
const SqlPage = lazy(() => import("./sql/SqlPage"));
const BoardsPage = lazy(() => import("./boards/BoardsPage"));
const BoardPage = lazy(() => import("./boards/BoardPage"));
const KeptPage = lazy(() => import("./boards/KeptPage"));
const ActivityPage = lazy(() => import("./schedules/ActivityPage"));
const LabPage = lazy(() => import("./lab/LabPage"));

export function App() {
  const path = usePath();
  const place = placeOf(path);
  const [menuOpen, setMenuOpen] = useState(false);
  const [openedAt, setOpenedAt] = useState(path);
  useQuery(healthQuery);
  useEffect(() => {
    document.title = `${TITLES[place.name]}text2sql`;
  }, [place.name]);
  if (openedAt !== path) {
    setOpenedAt(path);
    setMenuOpen(false);
  }

  return (
    <div className={css["app"]}>
      <a className={css["skip"]} href="#main">
        Skip to the answer
      </a>
      <TopBar open={menuOpen} onToggle={() => setMenuOpen(!menuOpen)} />
      <Sidebar open={menuOpen} place={place} />
      <main id="main" className={css["main"]} tabIndex={-1}>
        <Notices />
        <Suspense fallback={null}>
          <Page place={place} />
        </Suspense>
      </main>
      <TokenDialog />
    </div>
  );
}

const TITLES: Record<Place["name"], string> = {
  home: "",
  thread: "Thread · ",
  run: "Run · ",
  database: "",
  data: "Data · ",
  sql: "SQL · ",
  boards: "Boards · ",
  board: "Board · ",
  shared: "Board · ",
  kept: "Kept answer · ",
  lab: "Lab · ",
  activity: "Activity · ",
  lost: "Nothing here · ",
};

function Page({ place }: { place: Place }) {
  switch (place.name) {
    case "home":
      return <Home />;
    case "thread":
      return <ThreadPage key={place.threadId} threadId={place.threadId} />;
    case "run":
      return <RunPage key={place.runId} runId={place.runId} />;
    case "database":
      return <ChosenHome key={place.preset} preset={place.preset} />;
    case "data":
      return <DataPage key={place.preset} preset={place.preset} view={place.view} />;
    case "sql":
      return <SqlPage key={place.preset} preset={place.preset} />;
    case "boards":
      return <BoardsPage />;
    case "board":
      return <BoardPage key={place.boardId} source={{ boardId: place.boardId }} />;
    case "shared":
      return <BoardPage key={place.share} source={{ share: place.share }} />;
    case "kept":
      return <KeptPage key={place.keptId} keptId={place.keptId} />;
    case "lab":
      return <LabPage />;
    case "activity":
      return <ActivityPage />;
    case "lost":
      return <NotFound title="There is nothing at this address." />;
  }
}

/** The first page with one database chosen, as a link to that database opens it. */
function ChosenHome({ preset }: { preset: string }) {
  const { data, error, isFetching } = useQuery({ ...presetsQuery, refetchOnMount: "always" });
  const known = data?.some((p) => p.id === preset);
  useEffect(() => {
    if (!known) return;
    choosePreset(preset);
    go(paths.home, { replace: true });
  }, [preset, known]);
  if (known || isFetching) return null;
  const reason = error?.message ?? "It was removed, or it is another person's.";
  return <NotFound title="There is no database at this address." reason={reason} />;
}
