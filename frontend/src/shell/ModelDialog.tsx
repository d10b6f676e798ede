/** The model that answers: its endpoint, its key, its name; tried before it is used. The key goes to the server only. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { post, put, send } from "../api/client";
import type { ModelSetting, Trial } from "../api/types";
import { Button } from "./Button";
import css from "./Dialog.module.css";

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
  const trial = useMutation({ mutationFn: () => post<Trial>("/model/test", { ...wanted(), name: name.trim() || "default" }) });
  const saving = useMutation({
    mutationFn: (back: boolean) => (back ? send("/model", { method: "DELETE" }) : put("/model", wanted())),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["model"] });
      void client.invalidateQueries({ queryKey: ["health"] });
      dialog.current?.close();
    },
  });
  const problem = saving.error ?? trial.error;
  const ready = name.trim() !== "" && !saving.isPending;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (ready) saving.mutate(false);
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
            onChange={(e) => setName(e.target.value)}
            placeholder={trial.data?.models.length ? "Choose one" : "Test the endpoint to see its models"}
            autoComplete="off"
            spellCheck={false}
          />
          <datalist id={names}>
            {trial.data?.models.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </datalist>
        </label>
        <p className={css["hint"]} role="status">
          {trial.isPending ? "Asking the endpoint…" : trial.data ? trialText(trial.data) : ""}
        </p>
        {problem && (
          <p className={css["problem"]} role="alert">
            {problem.message}
          </p>
        )}
        <div className={css["actions"]}>
          {now.kept && (
            <Button className={css["way"] ?? ""} onClick={() => saving.mutate(true)} disabled={saving.isPending}>
              As configured
            </Button>
          )}
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button look="framed" onClick={() => trial.mutate()} disabled={trial.isPending}>
            Test
          </Button>
          <Button look="filled" type="submit" disabled={!ready}>
            Use it
          </Button>
        </div>
      </form>
    </dialog>,
    document.body,
  );
}

function trialText(trial: Trial): string {
  const models = trial.models.length > 0 ? ` It has ${trial.models.length} models to choose from.` : "";
  return trial.ok
    ? `It answers (“${trial.message}”, ${trial.seconds.toFixed(1)} s).${models}`
    : `It does not answer: ${trial.message}${models}`;
}
