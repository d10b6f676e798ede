import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { LabKit, LabRun } from "../../src/api/labTypes";
import LabPage from "../../src/lab/LabPage";
import { placeOf } from "../../src/shell/router";
import { serve, show } from "../render";

const kit = (name: string, elo: number, more: Partial<LabKit> = {}): LabKit => ({
  kit: name, round: 1, by: "refine", parents: [], note: "", elo, bradley_terry: elo, chosen: false, changes: [], ...more,
});
const run: LabRun = {
  name: "night", evolver: "reflective", model: "gpt-5", seed: 3, ended: true, accepted: true, why: "Better on held-out questions.",
  splits: [
    {
      name: "random", played: 2, rounds: 2, base_elo: 1480, proof: { n: 299, before: 0.468, after: 0.5217, won: 16, lost: 0, p: 0.000031 },
      kits: [kit("low", 1490), kit("high", 1530, {
        chosen: true, parents: ["low"], note: "<b>names</b>",
        changes: [{ file: "glossary.yaml", lines: ["  terms:", "- - term: pay", "+ - term: <i>wergild</i>"] }],
      })],
    },
    { name: "form_disjoint", played: 0, rounds: 2, base_elo: 1500, proof: null, kits: [] },
  ],
};

describe("the lab's page", () => {
  it("shows the proof, the kits by their rating, and what one changes against its parent", async () => {
    serve({ "/lab/runs": [run] });
    const { container } = show(<LabPage />);

    const shown = within(await screen.findByRole("region", { name: "Run night" }));
    expect(shown.getByText("Accepted.")).toBeTruthy();
    const row = shown.getByRole("row", { name: /At random/ });
    expect([...row.querySelectorAll("td")].map((cell) => cell.textContent)).toEqual(["299", "0.468", "0.522", "16", "0", "0.000031"]);
    expect(shown.queryByRole("row", { name: /Forms kept apart/ })).toBeNull(); // not proved
    expect(shown.getByRole("heading", { name: "At random: 2 rounds" })).toBeTruthy();
    const kits = shown.getAllByRole("listitem");
    expect(kits.map((item) => item.querySelector("span")?.textContent)).toEqual(["high", "low"]);
    expect(kits[0]?.textContent).toContain("high chosenELO 1530, Bradley–Terry 1530; round 1, by refine, from low<b>names</b>");
    await userEvent.click(shown.getByText("glossary.yaml"));
    expect(container.querySelector("pre .added")?.textContent).toBe("+ - term: <i>wergild</i>\n");
    expect(container.querySelector("pre .removed")?.textContent).toBe("- - term: pay\n");
  });

  it("says that a run is under way, that there is none, and why there is nothing to see", async () => {
    serve({ "/lab/runs": [{ ...run, ended: false, accepted: false, why: "" }] });
    show(<LabPage />);
    expect(await screen.findByText("Under way.")).toBeTruthy();
    expect(screen.getByRole("heading", { name: "At random: 2 rounds of 2" })).toBeTruthy();

    serve({ "/lab/runs": [] });
    show(<LabPage />);
    expect(await screen.findByText(/No run yet/)).toBeTruthy();

    serve({});
    show(<LabPage />);
    expect((await screen.findByRole("alert")).textContent).toBe("Not here.");
  });

  it("has an address of its own", () => {
    expect(placeOf("/lab")).toEqual({ name: "lab" });
    expect(placeOf("/lab/runs")).toEqual({ name: "lost" });
  });
});
