import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { get } from "../../src/api/client";
import type { BoardSummary, KeptAnswer, KeptRows, Tile } from "../../src/api/boardTypes";
import type { ModelSetting } from "../../src/api/modelTypes";
import AddDatabase from "../../src/ask/AddDatabase";
import BoardPage from "../../src/boards/BoardPage";
import { BoardTitle } from "../../src/boards/BoardTitle";
import KeepDialog from "../../src/boards/KeepDialog";
import { PinMenu } from "../../src/boards/PinMenu";
import { TileView } from "../../src/boards/TileView";
import { ResultPanel } from "../../src/result/ResultPanel";
import ModelDialog from "../../src/shell/ModelDialog";
import { Sidebar } from "../../src/shell/Sidebar";
import { TokenDialog } from "../../src/shell/TokenDialog";
import { serve, show } from "../render";
import { recorded, stateAfter } from "../streams";
import { tried } from "../trial";

/** Replies that come when the test says so, first asked first. */
function later<T>() {
  const waiting: ((value: T) => void)[] = [];
  return {
    reply: () => new Promise<T>((resolve) => waiting.push(resolve)),
    asked: (times: number) => waitFor(() => expect(waiting).toHaveLength(times)),
    give: (index: number, value: T) => act(async () => waiting[index]?.(value)),
  };
}

const board = (id: string, tiles: Tile[] = []): BoardSummary => ({ board_id: id, title: id, tiles, shared: false, updated: "" });
const tile = (id: string): Tile => ({ kept_id: id, text: "", width: 2, height: 0 });
const kept = (id: string, more: Partial<KeptAnswer> = {}): KeptAnswer => ({
  kept_id: id,
  title: id,
  question: id,
  preset: "shop",
  sql: "SELECT 1",
  dialect: "sqlite",
  chart: {},
  parameters: [],
  result: null,
  created: "",
  ...more,
});
const rows = (value: string): KeptRows => ({
  sql: "SELECT 1",
  status: "success",
  execution_time_ms: 1,
  columns: ["name"],
  rows: [[value]],
  rows_returned: 1,
  truncated: false,
  error: null,
  refreshed: "2026-01-01T00:00:00Z",
  filtered: [],
});

describe("what comes late leaves alone what one does", () => {
  it("keeps no answer before the boards are known to choose from", async () => {
    const boards = later<BoardSummary[]>();
    serve({ "/boards": boards.reply });
    show(<KeepDialog runId="r" name="Sales" look={null} onClose={() => undefined} />);
    const keep = screen.getByRole<HTMLButtonElement>("button", { name: "Keep", hidden: true });
    expect(screen.queryByLabelText("Name of the new board")).toBeNull();
    expect(keep.disabled).toBe(true);
    await boards.asked(1);
    await boards.give(0, [board("Mondays")]);
    await waitFor(() => expect(keep.disabled).toBe(false));
    expect(screen.getByLabelText<HTMLSelectElement>("Board").value).toBe("Mondays");
  });

  it("leaves the focus in the search of the threads when it is emptied", async () => {
    const thread = (id: number) => ({ thread_id: `${id}`, title: `Thread ${id}`, preset: "shop", turns: 1, updated: "" });
    const all = { threads: [1, 2, 3, 4].map(thread), next: null };
    serve({ "/threads": all, "/presets": [], "/health": { status: "ok", model: "offline", offline: true } });
    show(<Sidebar open place={{ name: "home" }} />);
    const search = await screen.findByRole("searchbox");
    serve({ "/threads": { threads: [thread(1)], next: null } });
    await userEvent.type(search, "one");
    await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(1));
    await userEvent.clear(search);
    expect(document.activeElement).toBe(search);
  });

  it("does not take the focus back to a board's title", async () => {
    serve({});
    const { rerender } = show(<BoardTitle title="Sales" onChange={() => undefined} />);
    await userEvent.click(screen.getByRole("button", { name: "Rename the board" }));
    await userEvent.tab();
    rerender(<BoardTitle title="Sales" onChange={() => undefined} />);
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Rename" }));
  });

  it("shows a board as it was arranged last, whichever reply is slow", async () => {
    const whole = { board_id: "b", title: "b", share: null, updated: "", mine: true, filters: [] };
    const answers = [kept("One"), kept("Two"), kept("Three")];
    const changes = later<unknown>();
    let stored = { ...whole, tiles: answers.map((each) => tile(each.kept_id)), answers };
    const calls = serve({
      "/boards/b": (body: { tiles: Tile[] } | undefined) => {
        if (!body) return stored;
        const byId = new Map(answers.map((each) => [each.kept_id, each]));
        stored = { ...stored, tiles: body.tiles, answers: body.tiles.flatMap((each) => byId.get(each.kept_id) ?? []) };
        const reply = stored;
        return changes.reply().then(() => reply);
      },
    });
    show(<BoardPage source={{ boardId: "b" }} />);
    await userEvent.click(await screen.findByRole("button", { name: "Arrange" }));
    const titles = () => screen.getAllByRole("heading", { level: 2 }).map((each) => each.textContent);
    const unpin = (title: string) =>
      userEvent.click(within(screen.getByRole("group", { name: `Place of “${title}”` })).getByRole("button", { name: "Unpin" }));
    await unpin("One");
    await unpin("Two");
    expect(titles()).toEqual(["Three"]);
    await changes.asked(1);
    await changes.give(0, null);
    expect(titles()).toEqual(["Three"]);
    await changes.asked(2);
    await changes.give(1, null);
    expect(titles()).toEqual(["Three"]);
    expect(calls.filter(({ body }) => body && "tiles" in (body as object))).toHaveLength(2);
  });

  it("pins two answers one right after the other", async () => {
    let tiles: Tile[] = [];
    serve({ "/boards/b": (body: { tiles: Tile[] } | undefined) => ((tiles = body?.tiles ?? tiles), { ...board("b", tiles), answers: [] }) });
    show(
      <>
        <PinMenu answer={kept("One")} boards={[board("b")]} />
        <PinMenu answer={kept("Two")} boards={[board("b")]} />
      </>,
    );
    for (const menu of screen.getAllByRole("button", { name: "Pin to" })) {
      await userEvent.click(menu);
      await userEvent.click(screen.getByRole("button", { name: "b", hidden: true }));
    }
    await waitFor(() => expect(tiles.map((each) => each.kept_id)).toEqual(["One", "Two"]));
  });

  it("shows the former rows while an answer is run anew, and no failure of before", async () => {
    const refreshed = later<KeptAnswer | Response>();
    serve({ "/boards/b/One/refresh": refreshed.reply });
    show(<TileView tile={tile("One")} answer={kept("One")} source={{ boardId: "b" }} mine arrange={null} index={0} filters={[]} values={[]} />);
    const refresh = screen.getByRole("button", { name: "Refresh “One”" });
    await refreshed.give(0, Response.json({ error: { kind: "database", message: "Locked." } }, { status: 500 }));
    expect((await screen.findByRole("alert")).textContent).toBe("Locked.");
    await userEvent.click(refresh);
    await refreshed.asked(2);
    await refreshed.give(1, kept("One", { title: "First run", result: rows("Ann") }));
    expect(await screen.findByRole("heading", { name: "First run" })).toBeTruthy();
    expect(screen.queryByRole("alert")).toBeNull();
    await userEvent.click(refresh);
    await refreshed.asked(3);
    expect(screen.getByRole("heading", { name: "First run" })).toBeTruthy();
    await refreshed.give(2, kept("One", { result: rows("Bea") }));
  });

  it("does not ask for a token again when a request from before it is refused", async () => {
    const refusal = () => Response.json({ error: { kind: "unauthorized", message: "A token is needed." } }, { status: 401 });
    const old = later<Response>();
    serve({ "/health": refusal(), "/presets": old.reply });
    show(<TokenDialog />);
    const early = get("/presets").catch(() => "refused");
    await get("/health").catch(() => undefined);
    await userEvent.type(await screen.findByLabelText("Access token"), "secret{Enter}");
    await old.give(0, refusal());
    expect(await early).toBe("refused");
    expect(document.querySelector("dialog")?.open).toBe(false);
  });

  it("does not choose a database whose upload was left", async () => {
    const connected = later<unknown>();
    serve({ "/databases": connected.reply, "/presets": [] });
    const onAdded = vi.fn();
    const { rerender } = show(<AddDatabase way="connect" onClose={() => undefined} onAdded={onAdded} />);
    await userEvent.type(screen.getByLabelText("URL"), "postgresql://host/sales{Enter}");
    await connected.asked(1);
    rerender(<p />);
    await connected.give(0, { id: "sales" });
    expect(onAdded).not.toHaveBeenCalled();
  });

  it("says nothing of an endpoint that is no longer the one in the field", async () => {
    const trial = later<unknown>();
    serve({ "/model/test": trial.reply });
    const now: ModelSetting = { name: "", base_url: "http://one", offline: true, has_key: false, kept: false, may_change: true, strategy: "standard" };
    show(<ModelDialog now={now} onClose={() => undefined} />);
    await userEvent.click(screen.getByRole("button", { name: "Test" }));
    await trial.asked(1);
    await trial.give(0, tried({}));
    expect(await screen.findByText(/It answers/)).toBeTruthy();
    await userEvent.type(screen.getByLabelText("Endpoint"), "/v1");
    expect(screen.queryByText(/It answers/)).toBeNull();
  });

  it("leaves a result as one looks at it when its run ends", async () => {
    serve({});
    const events = recorded("two-tasks");
    const going = stateAfter(events, (event) => event.event === "token");
    const { rerender } = show(<ResultPanel run={{ ...going, status: "running" }} traced={null} />);
    const chart = screen.getByRole("button", { name: "Chart" });
    const other = chart.getAttribute("aria-pressed") === "true" ? screen.getByRole("button", { name: "Table" }) : chart;
    await userEvent.click(other);
    rerender(<ResultPanel run={stateAfter(events)} traced={null} />);
    expect(document.activeElement).toBe(other);
    expect(other.getAttribute("aria-pressed")).toBe("true");
  });
});
