/**
 * The runs that this page started, kept outside the components so that they go on while one looks elsewhere.
 * Events are applied in batches, at most twenty a second, so that a burst of them costs one render.
 */
import { ApiError, post } from "../api/client";
import type { RunEvent } from "../api/events";
import { type Connection, followRun, type RunSource } from "../api/followRun";
import { reduceRun, type RunAction } from "./reducer";
import { newRun, type RunState } from "./state";

export interface LiveRun {
  /** The page's own name for the run, known before the server has given it one. */
  key: string;
  state: RunState;
}

type Listener = () => void;

export class LiveRuns {
  #runs: readonly LiveRun[] = [];
  readonly #queues = new Map<string, RunAction[]>();
  readonly #aborts = new Map<string, AbortController>();
  /** Stopped before the server had named them. */
  readonly #unnamed = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #listeners = new Set<Listener>();
  #scheduled = false;
  #count = 0;

  constructor(
    private readonly follow: typeof followRun = followRun,
    private readonly schedule: (flush: () => void) => void = soon,
  ) {}

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly all = (): readonly LiveRun[] => this.#runs;

  /** Starts following a run; the promise settles when the run has ended, and never rejects. */
  start(source: RunSource, question: string, preset: string | null, threadId: string | null): { key: string; ended: Promise<void> } {
    const key = `live-${++this.#count}`;
    const state = { ...newRun(question, preset, Date.now()), threadId };
    if ("resume" in source) state.runId = source.resume;
    this.#runs = [...this.#runs, { key, state }];
    this.#notify();
    const abort = new AbortController();
    this.#aborts.set(key, abort);
    const listener = {
      event: (event: RunEvent, id: number) => {
        if (event.event === "run" && this.#unnamed.has(key)) void this.#cancel(key, event.data.run_id);
        this.#push(key, { type: "event", id, at: Date.now(), event });
      },
      connection: (connection: Connection) => this.#push(key, { type: "connection", connection }),
    };
    const ended = this.follow(source, listener, abort.signal)
      .catch((error: unknown) => {
        const known = error instanceof ApiError;
        if (abort.signal.aborted) this.#push(key, { type: "failed", message: "Stopped.", kind: "cancelled" });
        else
          this.#push(key, {
            type: "failed",
            message: known ? error.message : "The answer could not be read.",
            kind: known ? error.kind : "internal",
          });
      })
      .finally(() => {
        this.#aborts.delete(key);
        clearTimeout(this.#unnamed.get(key));
        this.#unnamed.delete(key);
        this.#flush();
      });
    return { key, ended };
  }

  /** Stops a run on the server; the stream then tells how it ended. */
  async stop(key: string): Promise<void> {
    const run = this.#runs.find((r) => r.key === key);
    if (!run || run.state.status !== "running") return;
    this.#push(key, { type: "stopping" });
    const { runId } = run.state;
    if (runId === null) {
      // the server has not named it yet: it is stopped as soon as it has a name, or left when that takes too long
      this.#unnamed.set(key, setTimeout(() => this.#aborts.get(key)?.abort(), NAMED_WITHIN_MS));
      return;
    }
    await this.#cancel(key, runId);
  }

  async #cancel(key: string, runId: string): Promise<void> {
    try {
      await post(`/runs/${encodeURIComponent(runId)}/cancel`);
    } catch {
      this.#aborts.get(key)?.abort(); // going away stops it too
    }
  }

  forgetThread(threadId: string): void {
    this.#runs = this.#runs.filter((run) => run.state.threadId !== threadId);
    this.#notify();
  }

  #push(key: string, action: RunAction): void {
    const queue = this.#queues.get(key) ?? [];
    queue.push(action);
    this.#queues.set(key, queue);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.schedule(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#queues.size === 0) return;
    this.#runs = this.#runs.map((run) => {
      const actions = this.#queues.get(run.key);
      return actions ? { ...run, state: actions.reduce(reduceRun, run.state) } : run;
    });
    this.#queues.clear();
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

const NAMED_WITHIN_MS = 3000;
const BATCH_MS = 50;
let lastFlush = 0;

/** At once after a pause, else when the last batch is old enough. */
function soon(flush: () => void): void {
  const wait = Math.max(0, lastFlush + BATCH_MS - performance.now());
  setTimeout(() => {
    lastFlush = performance.now();
    flush();
  }, wait);
}

export const liveRuns = new LiveRuns();
