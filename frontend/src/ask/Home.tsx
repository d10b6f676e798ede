/** The first page: what can be asked of the chosen database, and what is in it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { examplesQuery, presetsQuery } from "../api/queries";
import { useNewThread } from "../run/useNewThread";
import { useRunActions } from "../run/useRuns";
import { Icon } from "../shell/Icon";
import { Turn } from "../threads/Turn";
import { presetToAsk, useChosenPreset } from "./chosenPreset";
import { Composer } from "./Composer";
import { Contents } from "./Contents";
import { DatabasePicker } from "./DatabasePicker";
import { DropZone } from "./DropZone";
import css from "./Home.module.css";
import { ImportReview } from "./ImportReview";

export function Home() {
  const presets = useQuery(presetsQuery);
  const [preset] = useChosenPreset();
  const client = useQueryClient();
  const { run, ask } = useNewThread();
  const { stop } = useRunActions();
  const own = useQuery({ ...examplesQuery(preset?.id ?? ""), enabled: preset !== null && preset.examples.length === 0 && preset.tables !== 0 });
  const examples = preset?.examples.length ? preset.examples : (own.data ?? []);
  // a quick question may be there before the list of databases is
  const askHere = (question: string) => void presetToAsk(client).then((id) => ask(question, id));

  if (run) {
    const { state } = run;
    const ended = state.status !== "running";
    return (
      <div>
        <Turn
          run={state}
          latest
          onAsk={askHere}
          onStop={() => stop(run.key)}
          onAgain={ended ? () => askHere(state.question) : undefined}
        />
        {ended && (
          <div className={css["anew"]}>
            <Composer label="Your question" placeholder="Ask something else" running={false} onAsk={askHere} onStop={() => undefined}>
              <DatabasePicker />
            </Composer>
          </div>
        )}
      </div>
    );
  }

  if (presets.isSuccess && !preset) return <NoDatabase />;
  const empty = preset?.tables === 0;
  return (
    <div className={css["home"]}>
      <div className={css["ask"]}>
        <h1 className={css["title"]}>{preset ? preset.name : " "}</h1>
        <p className={css["about"]}>{preset?.description}</p>
        <Composer
          label="Your question"
          placeholder={empty ? "This database has no tables yet" : "Ask in plain English"}
          running={false}
          onAsk={askHere}
          onStop={() => undefined}
          focused
        >
          <DatabasePicker />
        </Composer>
        <DropZone />
        {preset?.kind === "uploaded" && <ImportReview key={preset.id} id={preset.id} notes={preset.notes ?? []} />}
        {preset?.kind === "uploaded" && own.isSuccess && examples.length < 3 && (
          <p className={css["about"]}>
            {examples.length === 0
              ? "No example question of this file is answered without a doubt; ask in your own words."
              : "These are all the example questions of this file that are answered without a doubt."}
          </p>
        )}
        {examples.length > 0 && (
          <section className={css["examples"]} aria-labelledby="examples-title">
            <h2 id="examples-title" className={css["heading"]}>
              For example
            </h2>
            <ul>
              {examples.slice(0, 8).map((question) => (
                <li key={question}>
                  <button
                    type="button"
                    className={css["example"]}
                    onClick={() => askHere(question)}
                  >
                    <span>{question}</span>
                    <Icon name="arrow" />
                  </button>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
      {preset && <Contents preset={preset} />}
    </div>
  );
}

function NoDatabase() {
  return (
    <div className={css["none"]}>
      <h1 className={css["title"]}>There is no database to ask.</h1>
      <p className={css["about"]}>Upload a file or connect one; questions can be asked at once.</p>
      <DatabasePicker />
    </div>
  );
}
