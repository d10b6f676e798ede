/** One run by its own address, as it is sent to others of the same name. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { runQuery } from "../api/queries";
import { fromStored } from "../run/fromStored";
import { liveRuns } from "../run/liveRuns";
import { useLiveRuns, useRunActions } from "../run/useRuns";
import { Icon } from "../shell/Icon";
import { NotFound } from "../shell/NotFound";
import { followLink, go, paths } from "../shell/router";
import css from "./RunPage.module.css";
import { SqlRunView } from "./SqlRunView";
import { Turn } from "./Turn";

export function RunPage({ runId }: { runId: string }) {
  const { data, error } = useQuery(runQuery(runId));
  const live = useLiveRuns(data?.thread_id ?? "").find((run) => run.state.runId === runId);
  const { ask, again, resume, stop } = useRunActions();
  const state = useMemo(() => live?.state ?? (data?.kind === "question" ? fromStored(data) : null), [live, data]);
  // a run that is still going is followed, whoever started it
  useEffect(() => {
    if (data?.status === "running" && data.thread_id && !liveRuns.all().some((run) => run.state.runId === runId))
      resume(runId, data.question, data.preset, data.thread_id);
  }, [data, runId, resume]);

  if (error) return <NotFound title="This run can't be shown." reason={error.message} />;
  if (data?.kind === "sql") return <SqlRunView run={data} />;
  if (!data || !state) return <p className={css["page"]}>Fetching the run…</p>;
  const thread = data.thread_id;

  function onward(start: (threadId: string) => void) {
    if (!thread) return;
    start(thread);
    go(paths.thread(thread));
  }

  return (
    <div>
      {thread && (
        <p className={css["back"]}>
          <a href={paths.thread(thread)} onClick={followLink}>
            The whole thread <Icon name="arrow" />
          </a>
        </p>
      )}
      <Turn
        run={state}
        feedback={data.feedback}
        latest
        onAsk={(question) => onward((id) => ask(question, null, id))}
        onStop={() => live && stop(live.key)}
        onWithout={thread ? () => onward((id) => ask(data.question, null, id, { model: "offline" })) : undefined}
        onAgain={thread ? () => onward((id) => again(runId, data.question, data.preset, id)) : undefined}
      />
    </div>
  );
}
