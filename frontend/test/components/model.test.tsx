import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { LocalModel, ModelSetting } from "../../src/api/modelTypes";
import ModelDialog from "../../src/shell/ModelDialog";
import { Failure } from "../../src/threads/Failure";
import { serve, show } from "../render";
import { recorded, stateAfter } from "../streams";
import { tried } from "../trial";

const none: ModelSetting = {
  name: "offline",
  base_url: null,
  offline: true,
  has_key: false,
  kept: false,
  may_change: true,
  strategy: "standard",
};
const here = [{ base_url: "http://127.0.0.1:11434/v1", kind: "Ollama", models: ["qwen", "llama"] }];

describe("the model that answers", () => {
  it("is found on the machine, tried, and taken as recommended", async () => {
    const answers = { "/model/servers": here, "/model/test": tried({ strategy: "small", right: 2 }), "/model": none };
    const calls = serve(answers);
    show(<ModelDialog now={none} onClose={() => undefined} />);
    const told = await screen.findByRole("status", { hidden: true });
    await waitFor(() => expect(told.textContent).toContain("Recommended: small."));
    expect(told.textContent).toContain("2 of 3");
    expect(screen.getByLabelText<HTMLInputElement>("Model").value).toBe("qwen");
    await userEvent.click(screen.getByRole("button", { name: "Use it as “small”", hidden: true }));
    await waitFor(() => expect(calls.find(({ path, body }) => path === "/model" && body)).toBeTruthy());
    expect(calls.find(({ path, body }) => path === "/model" && body)?.body).toEqual({
      base_url: "http://127.0.0.1:11434/v1",
      name: "qwen",
      api_key: null,
      strategy: "small",
    });
  });

  it("is not tried unasked where another one answers", async () => {
    const other = { ...none, offline: false, name: "gpt-5", base_url: "http://gpu/v1" };
    const calls = serve({ "/model/servers": here, "/model/test": tried({}) });
    show(<ModelDialog now={other} onClose={() => undefined} />);
    const offered = await screen.findByRole("button", { name: "Try Ollama: qwen", hidden: true });
    expect(calls.map(({ path }) => path)).toEqual(["/model/servers"]);
    await userEvent.click(offered);
    await waitFor(() => expect(calls.at(-1)?.body).toMatchObject({ base_url: "http://127.0.0.1:11434/v1", name: "qwen" }));
  });

  it("takes the first model that an endpoint lists where none is named", async () => {
    const calls = serve({ "/model/servers": [], "/model/test": tried({ name: "first" }), "/model": none });
    show(<ModelDialog now={none} onClose={() => undefined} />);
    await userEvent.type(screen.getByLabelText("Endpoint"), "http://gpu/v1");
    await userEvent.click(screen.getByRole("button", { name: "Test", hidden: true }));
    await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>("Model").value).toBe("first"));
    expect(calls.find(({ path }) => path === "/model/test")?.body).toEqual({ base_url: "http://gpu/v1", name: "", api_key: null });
  });

  it("goes back to the built-in engine where a model is of no use", async () => {
    const calls = serve({ "/model/servers": here, "/model/test": tried({ strategy: "offline", right: 0 }), "/model": none });
    show(<ModelDialog now={none} onClose={() => undefined} />);
    await userEvent.click(await screen.findByRole("button", { name: "Use the built-in engine", hidden: true }));
    await waitFor(() =>
      expect(calls.at(-1)?.body ?? calls.find(({ path, body }) => path === "/model" && body)?.body).toEqual({
        base_url: null,
        name: "offline",
        api_key: "",
      }),
    );
  });
});

describe("a model that failed", () => {
  it("leaves the engine's answer one click away", async () => {
    const onWithout = vi.fn();
    const run = { ...stateAfter(recorded("failed")), error: { kind: "model", message: "The quota is used up." } };
    const nothing = () => undefined;
    show(<Failure run={run} onAsk={nothing} onEdit={nothing} onWithout={onWithout} />);
    await userEvent.click(within(screen.getByRole("alert")).getByRole("button", { name: "Answer without the model" }));
    expect(onWithout).toHaveBeenCalledOnce();
  });
});

describe("a small model for the server's machine", () => {
  const tiny: LocalModel = {
    name: "tiny",
    title: "Tiny",
    licence: "Apache-2.0",
    size: 1_100_000_000,
    memory: 1_900_000_000,
    accuracy: null,
    seconds: null,
    state: "absent",
    bytes: 0,
    problem: "",
    needs: "",
  };

  it("is got with one click, tried once it is there, and used", async () => {
    let now = tiny;
    const calls = serve({
      "/model/servers": [],
      "/model/local": (body: unknown) => {
        if (body) now = { ...tiny, state: "fetching", bytes: 300_000_000 };
        return [now];
      },
      "/model/test": tried({ name: "tiny", models: ["tiny"], strategy: "small" }),
      "/model": none,
    });
    show(<ModelDialog now={none} onClose={() => undefined} />);
    const group = await screen.findByRole("group", { name: "Small models for this machine", hidden: true });
    expect(group.textContent).toContain("1.1 GB to download, 1.9 GB of memory, Apache-2.0.");
    await userEvent.click(within(group).getByRole("button", { name: "Get Tiny", hidden: true }));
    const bar = await within(group).findByRole<HTMLProgressElement>("progressbar", { hidden: true });
    expect([bar.value, bar.max]).toEqual([300_000_000, 1_100_000_000]);
    expect(group.textContent).toContain("0.3 GB of 1.1 GB");
    now = { ...tiny, state: "fetched", bytes: tiny.size };
    await userEvent.click(await screen.findByRole("button", { name: "Use it as “small”", hidden: true }, { timeout: 4000 }));
    expect(calls.find(({ path }) => path === "/model/test")?.body).toEqual({ base_url: null, name: "tiny", api_key: "" });
    await waitFor(() =>
      expect(calls.find(({ path, body }) => path === "/model" && body)?.body).toEqual({
        base_url: null,
        name: "tiny",
        api_key: null,
        strategy: "small",
      }),
    );
  });

  it("can be stopped and gone on with, and says what went wrong and what is missing", async () => {
    let now: LocalModel = { ...tiny, state: "fetching", bytes: 300_000_000 };
    const calls = serve({
      "/model/servers": [],
      "/model/local": () => {
        const told = now;
        now = { ...tiny, bytes: 300_000_000, problem: "The download was stopped.", needs: "Install llama.cpp." };
        return [told];
      },
    });
    show(<ModelDialog now={none} onClose={() => undefined} />);
    await userEvent.click(await screen.findByRole("button", { name: "Stop getting Tiny", hidden: true }));
    expect(await screen.findByRole("button", { name: "Go on getting Tiny", hidden: true })).toBeTruthy();
    expect(screen.getByRole("alert", { hidden: true }).textContent).toBe("The download was stopped.");
    expect(screen.getByText("Install llama.cpp.")).toBeTruthy();
    expect(calls.some(({ path }) => path === "/model/test")).toBe(false);
  });

  it("is not offered where a server already runs", async () => {
    const calls = serve({ "/model/servers": here, "/model/test": tried({}), "/model/local": [tiny] });
    show(<ModelDialog now={none} onClose={() => undefined} />);
    await screen.findByRole("button", { name: "Try Ollama: qwen", hidden: true });
    expect(calls.some(({ path }) => path === "/model/local")).toBe(false);
  });
});
