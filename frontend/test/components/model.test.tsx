import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { ModelSetting } from "../../src/api/modelTypes";
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
