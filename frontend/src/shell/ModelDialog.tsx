/**
 * The model that answers: a server found on the machine, or an endpoint, its key, its name. It is tried before it is
 * used, and what is recommended is taken with one click. The key goes to the server only.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { post, put, send } from "../api/client";
import type { ModelServer, ModelSetting, Trial } from "../api/modelTypes";
import { modelServersQuery } from "../api/queries";
import { Button } from "./Button";
import css from "./Dialog.module.css";
import { LocalModels } from "./LocalModels";
import { TrialResult } from "./TrialResult";

/** What `PUT /model` takes. */
interface Wanted {
  base_url: string | null;
  name: string;
  api_key: string | null;
  strategy?: string;
}

export default function ModelDialog({ now, onClose }: { now: ModelSetting; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const client = useQueryClient();
  const hint = useId();
  const names = useId();
  const [url, setUrl] = useState(now.base_url ?? "");
  const [name, setName] = useState(now.offline ? "" : now.name);
  const [key, setKey] = useState("");

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  const wanted = () => ({ base_url: url.trim() || null, name: name.trim(), api_key: key.trim() || null });
  const servers = useQuery(modelServersQuery);
  const trial = useMutation({ mutationFn: (asked: Wanted) => post<Trial>("/model/test", asked) });
  /** What was typed meanwhile stays, and what it is no trial of is not told. */
  const tryOut = (asked: Wanted) =>
    trial.mutate(asked, {
      onSuccess: (found) => {
        setUrl((typed) => typed || (asked.base_url ?? ""));
        setName((typed) => typed || found.name);
      },
    });
  const saving = useMutation({
    mutationFn: (chosen: Wanted | null) => (chosen ? put("/model", chosen) : send("/model", { method: "DELETE" })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["model"] });
      void client.invalidateQueries({ queryKey: ["health"] });
      dialog.current?.close();
    },
  });
  const problem = saving.error ?? trial.error;
  const recommended = trial.data?.ok ? trial.data : null;
  const models = trial.data?.models ?? servers.data?.find((each) => each.base_url === url.trim())?.models ?? [];
  const ready = name.trim() !== "" && !saving.isPending;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (ready) saving.mutate(wanted());
  }

  function choose(server: ModelServer) {
    setUrl(server.base_url);
    setName(server.models[0] ?? "");
    setKey("");
    tryOut(ofServer(server));
  }

  function chooseLocal(local: string) {
    setUrl("");
    setName(local);
    setKey("");
    tryOut({ base_url: null, name: local, api_key: "" });
  }

  const first = servers.data?.[0];
  // a model on this machine costs nothing to try, so that one click is left
  const tryFirst = useEffectEvent((server: ModelServer) => {
    if (now.offline && !url && trial.isIdle) tryOut(ofServer(server));
  });
  useEffect(() => {
    if (first) tryFirst(first);
  }, [first]);

  function take(found: Trial) {
    if (found.strategy === "offline") saving.mutate({ base_url: null, name: "offline", api_key: "" });
    else saving.mutate({ ...wanted(), name: found.name, strategy: found.strategy });
  }

  return createPortal(
    <dialog ref={dialog} className={css["dialog"]} onClose={onClose} aria-labelledby="model-title">
      <form className={css["form"]} onSubmit={submit}>
        <h2 id="model-title" className={css["title"]}>
          The model that answers
        </h2>
        <p className={css["lead"]}>
          {now.offline ? "No model is configured, so the offline engine answers." : `Now ${now.name} answers.`} What is
          chosen here holds for everybody on this server.
        </p>
        {servers.data && servers.data.length > 0 && (
          <div role="group" aria-label="Found on this machine" className={css["found"]}>
            {servers.data.map((server) => (
              <Button key={server.base_url} look="framed" onClick={() => choose(server)} disabled={trial.isPending}>
                Try {server.kind || server.base_url}: {server.models[0]}
              </Button>
            ))}
          </div>
        )}
        {servers.data?.length === 0 && <LocalModels onReady={chooseLocal} busy={trial.isPending} />}
        <label className={css["field"]}>
          <span>Endpoint</span>
          <input
            value={url}
            onChange={(e) => {
              setUrl(e.target.value);
              trial.reset(); // it was of another endpoint
            }}
            placeholder="https://api.openai.com/v1"
            autoComplete="off"
            spellCheck={false}
            inputMode="url"
          />
        </label>
        <div>
          <label className={css["field"]}>
            <span>Key</span>
            <input
              type="password"
              value={key}
              onChange={(e) => {
                setKey(e.target.value);
                trial.reset();
              }}
              placeholder={now.has_key ? "as before" : "none"}
              autoComplete="off"
              spellCheck={false}
              aria-describedby={hint}
            />
          </label>
          <p id={hint} className={css["hint"]}>
            Kept sealed on the server and never shown again. A server on your own machine, such as Ollama, needs none.
          </p>
        </div>
        <label className={css["field"]}>
          <span>Model</span>
          <input
            value={name}
            list={names}
            onChange={(e) => {
              setName(e.target.value);
              trial.reset(); // it was of another model
            }}
            placeholder="The first that the endpoint lists"
            autoComplete="off"
            spellCheck={false}
          />
        </label>
        <datalist id={names}>
          {models.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </datalist>
        <div className={css["hint"]} role="status">
          {trial.isPending && "Trying what it is good for; a slow model takes a minute or two…"}
          {trial.data && <TrialResult trial={trial.data} />}
        </div>
        {problem && (
          <p className={css["problem"]} role="alert">
            {problem.message}
          </p>
        )}
        <div className={css["actions"]}>
          {now.kept && (
            <Button className={css["way"] ?? ""} onClick={() => saving.mutate(null)} disabled={saving.isPending}>
              As configured
            </Button>
          )}
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button look="framed" onClick={() => tryOut(wanted())} disabled={trial.isPending}>
            Test
          </Button>
          <Button look={recommended ? "framed" : "filled"} type="submit" disabled={!ready}>
            Use it
          </Button>
          {recommended && (
            <Button look="filled" onClick={() => take(recommended)} disabled={saving.isPending}>
              {recommended.strategy === "offline" ? "Use the built-in engine" : `Use it as “${recommended.strategy}”`}
            </Button>
          )}
        </div>
      </form>
    </dialog>,
    document.body,
  );
}

const ofServer = (server: ModelServer): Wanted => ({ base_url: server.base_url, name: server.models[0] ?? "", api_key: "" });
