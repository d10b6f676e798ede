/** A conversation: its turns, oldest first, and the question field below them. */
import { useQuery } from "@tanstack/react-query";
import { memo, useCallback, useDeferredValue, useEffect, useMemo, useRef } from "react";
import { presetsQuery, threadQuery } from "../api/queries";
import { Composer } from "../ask/Composer";
import { liveRuns } from "../run/liveRuns";
import { type RunActions, useLiveRuns, useRunActions } from "../run/useRuns";
import { NotFound } from "../shell/NotFound";
import { usePassed } from "../shell/usePassed";
import css from "./ThreadPage.module.css";
import { ThreadHeader } from "./ThreadHeader";
import { Turn } from "./Turn";
import { type TurnData, turnsOf } from "./turns";

export function ThreadPage({ threadId }: { threadId: string }) {
  // keys are answered before the latest words are drawn
  const live = useDeferredValue(useLiveRuns(threadId));
  const stored = useQuery({ ...threadQuery(threadId), staleTime: live.length > 0 ? Infinity : 0 });
  const presets = useQuery(presetsQuery);
  const actions = useRunActions();
  const { ask, resume, stop } = actions;
  const turns = useMemo(() => turnsOf(stored.data?.runs ?? [], live), [stored.data, live]);
  const running = live.find((run) => run.state.status === "running");
  const presetId = stored.data?.preset ?? turns[0]?.state.preset ?? null;
  const preset = presets.data?.find((p) => p.id === presetId) ?? null;
  const start = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const passed = usePassed(start);

  // a page that was loaded again picks up the run that is still going
  useEffect(() => {
    const going = stored.data?.runs.findLast((run) => run.status === "running");
    const known = going && liveRuns.all().some((run) => run.state.runId === going.run_id);
    if (going && !known) resume(going.run_id, going.question, going.preset, threadId);
  }, [stored.data, resume, threadId]);

  const asked = live.length;
  // what was just asked stands at the top, and its answer grows below
  useEffect(() => {
    const items = list.current?.children;
    if (asked > 0 && items && items.length > 1) items[items.length - 1]?.scrollIntoView({ block: "start" });
  }, [asked]);

  const onAsk = useCallback((question: string) => void ask(question, null, threadId), [ask, threadId]);

  if (stored.error && turns.length === 0)
    return <NotFound title="This thread can't be shown." reason={stored.error.message} />;

  return (
    <div className={css["page"]}>
      <ThreadHeader
        title={stored.data?.title ?? turns[0]?.state.question ?? ""}
        threadId={threadId}
        preset={preset}
        showTitle={passed}
      />
      <div ref={start} />
      <ol ref={list} className={css["turns"]}>
        {turns.map((turn, index) => (
          <li key={turn.key}>
            <TurnItem
              state={turn.state}
              liveKey={turn.liveKey}
              feedback={turn.feedback}
              latest={index === turns.length - 1}
              busy={running !== undefined}
              onAsk={onAsk}
              actions={actions}
            />
          </li>
        ))}
      </ol>
      <div className={css["dock"]}>
        <Composer
          compact
          label="A follow-up question"
          placeholder="Ask a follow-up"
          running={running !== undefined}
          onAsk={onAsk}
          onStop={() => running && stop(running.key)}
        />
      </div>
    </div>
  );
}

interface ItemProps extends Omit<TurnData, "key"> {
  latest: boolean;
  /** Something runs on the thread, so nothing is asked again meanwhile. */
  busy: boolean;
  onAsk: (question: string) => void;
  actions: RunActions;
}

const TurnItem = memo(function TurnItem({ state, liveKey, feedback, latest, busy, onAsk, actions }: ItemProps) {
  const { runId, threadId, question, preset } = state;
  const again = runId && threadId && !busy ? () => void actions.again(runId, question, preset, threadId) : undefined;
  return (
    <Turn
      run={state}
      feedback={feedback}
      latest={latest}
      onAsk={onAsk}
      onStop={() => liveKey && actions.stop(liveKey)}
      onAgain={again}
      onWithout={threadId && !busy ? () => void actions.ask(question, null, threadId, { model: "offline" }) : undefined}
      onAlone={threadId && !busy ? (text) => void actions.ask(text, null, threadId, { alone: true }) : undefined}
    />
  );
});
