import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { get } from "../../src/api/client";
import { Notices } from "../../src/shell/Notices";
import { TokenDialog } from "../../src/shell/TokenDialog";
import { serve, show } from "../render";

const HEALTH = { status: "ok", model: "offline", offline: true };

describe("how things stand", () => {
  it("says without a model what answers and what to set", async () => {
    serve({ "/health": HEALTH });
    show(<Notices />);
    expect((await screen.findByRole("note")).textContent).toContain("OPENAI_API_KEY");
  });

  it("says nothing when a model answers", async () => {
    const calls = serve({ "/health": { ...HEALTH, offline: false } });
    show(<Notices />);
    await waitFor(() => expect(calls).toHaveLength(1));
    expect(screen.queryByRole("note")).toBeNull();
  });

  it("says when the server is away", async () => {
    serve({ "/health": new TypeError("Failed to fetch") });
    show(<Notices />);
    expect((await screen.findByRole("alert")).textContent).toContain("The server does not answer.");
  });
});

describe("a server that wants a token", () => {
  it("is asked for one, sends it from then on, and keeps it for the tab only", async () => {
    const refused = Response.json({ error: { kind: "unauthorized", message: "A token is needed." } }, { status: 401 });
    serve({ "/presets": refused });
    show(<TokenDialog />);
    await expect(get("/presets")).rejects.toMatchObject({ status: 401, message: "A token is needed." });
    await userEvent.type(await screen.findByLabelText("Access token"), " secret {Enter}");
    expect(sessionStorage.getItem("text2sql.token")).toBe("secret");
    expect(localStorage).toHaveLength(0);
    expect(document.querySelector("dialog")?.open).toBe(false);
  });
});
