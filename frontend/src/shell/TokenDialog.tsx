/** Asks for the access token when the server refuses us without one. */
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { access } from "../api/client";
import { Button } from "./Button";
import css from "./Dialog.module.css";

export function TokenDialog() {
  const refused = useSyncExternalStore(access.subscribe, access.refused);
  const dialog = useRef<HTMLDialogElement>(null);
  const [token, setToken] = useState("");
  const client = useQueryClient();

  useEffect(() => {
    if (refused) dialog.current?.showModal();
    else dialog.current?.close();
  }, [refused]);

  function enter(event: FormEvent) {
    event.preventDefault();
    if (!token.trim()) return;
    access.enter(token);
    setToken("");
    void client.resetQueries();
  }

  return (
    <dialog ref={dialog} className={css["dialog"]} aria-labelledby="token-title" onCancel={(e) => e.preventDefault()}>
      <form onSubmit={enter} className={css["form"]}>
        <h2 id="token-title" className={css["title"]}>
          This server asks for a token
        </h2>
        <p className={css["lead"]}>Whoever runs it can give you one. It is kept until you close this tab.</p>
        <label className={css["field"]}>
          <span>Access token</span>
          <input
            type="password"
            value={token}
            onChange={(e) => setToken(e.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        </label>
        <div className={css["actions"]}>
          <Button look="filled" type="submit">
            Continue
          </Button>
        </div>
      </form>
    </dialog>
  );
}
