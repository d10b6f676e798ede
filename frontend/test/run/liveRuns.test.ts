import { describe, expect, it, vi } from "vitest";
import { ApiError } from "../../src/api/client";
import type { RunListener } from "../../src/api/followRun";
import { LiveRuns } from "../../src/run/liveRuns";
import { recorded } from "../streams";

/** A run whose events the test sends, and frames that the test draws. */
function held() {
  let listener: RunListener | undefined;
  let end: { done: () => void; fail: (error: unknown) => void } | undefined;
  let frame: (() => void) | undefined;
  const runs = new LiveRuns(
    (_, heard) => {
      listener = heard;
      return new Promise((done, fail) => {
        end = { done, fail };
      });
    },
    (flush) => {
      frame = flush;
    },
  );
  return {
    runs,
    send: (...events: Parameters<RunListener["event"]>[0][]) => events.forEach((e, i) => listener?.event(e, i + 1)),
    draw: () => frame?.(),
    done: () => end?.done(),
    fail: (error: unknown) => end?.fail(error),
  };
}

describe("runs under way", () => {
  it("tell of two hundred events in one go, at the next frame", () => {
    const { runs, send, draw } = held();
    runs.start({ ask: { question: "q" } }, "q", "shop", null);
    const told = vi.fn();
    runs.subscribe(told);
    const token = { event: "token", data: "x" } as const;
    send(...Array.from({ length: 200 }, () => token));
    expect(told).not.toHaveBeenCalled();
    draw();
    expect(told).toHaveBeenCalledTimes(1);
    expect(runs.all()[0]?.state.text).toHaveLength(200);
  });

  it("are known by their thread as soon as the server has named it", () => {
    const { runs, send, draw } = held();
    const { key } = runs.start({ ask: { question: "q" } }, "q", "shop", null);
    expect(runs.all()[0]?.state.threadId).toBeNull();
    send(...recorded("rows").slice(0, 1));
    draw();
    expect(runs.all()[0]).toMatchObject({ key, state: { threadId: "th-1", runId: "run-rows" } });
  });

  it("end with the server's own words when it refuses", async () => {
    const { runs, fail } = held();
    const { ended } = runs.start({ ask: { question: "q" } }, "q", "shop", null);
    fail(new ApiError(503, "busy", "Too many questions at once."));
    await ended;
    expect(runs.all()[0]?.state).toMatchObject({
      status: "error",
      error: { kind: "busy", message: "Too many questions at once." },
    });
  });

  it("are stopped on the server by their number", async () => {
    const fetched = vi.fn(async () => Response.json({ status: "cancelled" }, { status: 202 }));
    vi.stubGlobal("fetch", fetched);
    const { runs, send, draw } = held();
    const { key } = runs.start({ ask: { question: "q" } }, "q", "shop", null);
    send(...recorded("rows").slice(0, 2));
    draw();
    await runs.stop(key);
    draw();
    expect(fetched).toHaveBeenCalledWith("/runs/run-rows/cancel", expect.objectContaining({ method: "POST" }));
    expect(runs.all()[0]?.state.stopping).toBe(true);
    vi.unstubAllGlobals();
  });

  it("that are stopped before they have a number are stopped once they have one", async () => {
    const fetched = vi.fn(async () => Response.json({ status: "cancelled" }, { status: 202 }));
    vi.stubGlobal("fetch", fetched);
    const { runs, send } = held();
    const { key } = runs.start({ ask: { question: "q" } }, "q", "shop", null);
    await runs.stop(key);
    expect(fetched).not.toHaveBeenCalled();
    send(...recorded("rows").slice(0, 1));
    expect(fetched).toHaveBeenCalledExactlyOnceWith("/runs/run-rows/cancel", expect.objectContaining({ method: "POST" }));
    vi.unstubAllGlobals();
  });
});
