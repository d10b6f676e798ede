/** SQL without a question: an editor on the whole page that knows the tables and columns of the database. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { presetsQuery } from "../api/queries";
import { choosePreset } from "../ask/chosenPreset";
import { followLink, go, paths } from "../shell/router";
import Bench from "./Bench";
import css from "./SqlPage.module.css";

/** What was typed is there again after a look elsewhere, as long as the tab is open. */
const draftKey = (preset: string): string => `text2sql.draft.${preset}`;

export default function SqlPage({ preset }: { preset: string }) {
  const { data: presets } = useQuery(presetsQuery);
  const about = presets?.find((each) => each.id === preset);
  const [draft] = useState(() => sessionStorage.getItem(draftKey(preset)) ?? "");
  return (
    <div className={css["page"]}>
      <header className={css["header"]}>
        <h1 className={css["title"]}>Write SQL</h1>
        <label className={css["database"]}>
          <span>Database</span>
          <select
            value={preset}
            onChange={(event) => {
              choosePreset(event.target.value);
              go(paths.sql(event.target.value));
            }}
          >
            {!about && <option value={preset}>{preset}</option>}
            {presets?.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
        <a href={paths.data(preset)} onClick={followLink}>
          Its tables
        </a>
      </header>
      <Bench
        preset={preset}
        dialect={about?.dialect ?? "sqlite"}
        sql={draft}
        question=""
        onText={(text) => sessionStorage.setItem(draftKey(preset), text)}
      />
    </div>
  );
}
