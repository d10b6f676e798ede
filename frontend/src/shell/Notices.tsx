/** What concerns every place: the server is away, or no model is configured. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { ApiError, onUnreachable } from "../api/client";
import { healthQuery, modelQuery } from "../api/queries";
import { IconButton } from "./Button";
import { Icon } from "./Icon";
import css from "./Notices.module.css";

const DISMISSED = "text2sql.offline-noted";

export function Notices() {
  const { data, error } = useQuery(healthQuery);
  const setting = useQuery({ ...modelQuery, enabled: data?.offline === true });
  useHealthAtOnce();
  const [noted, setNoted] = useState(() => sessionStorage.getItem(DISMISSED) !== null);
  if (error instanceof ApiError && error.unreachable) return <ServerAway />;
  if (!data?.offline || noted) return null;
  return (
    <div className={css["notice"]} role="note">
      <p>
        <strong>No model is configured,</strong> so the offline engine answers: simple questions only. For a model,{" "}
        {setting.data?.may_change && "choose or get one under “Offline engine”, or "}set{" "}
        <code>OPENAI_API_KEY</code> or <code>OPENAI_BASE_URL</code> and start again.
      </p>
      <IconButton
        icon="cross"
        label="Hide this note"
        onClick={() => {
          sessionStorage.setItem(DISMISSED, "1");
          setNoted(true);
        }}
      />
    </div>
  );
}

/** Stays in sight however far one has scrolled; what it would cover moves down. */
function ServerAway() {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (window.scrollY > 0) window.scrollBy(0, -(box.current?.offsetHeight ?? 0));
  }, []);
  return (
    <div ref={box} className={css["notice"]} data-tone="wrong" role="alert">
      <Icon name="warn" />
      <p>
        <strong>The server does not answer.</strong> Trying again every few seconds; what you have typed is kept. If it
        was stopped, start it with <code>make run</code>.
      </p>
    </div>
  );
}

/** A request that nothing answered is a reason to look at once whether the server is there, not at the next turn. */
function useHealthAtOnce(): void {
  const client = useQueryClient();
  useEffect(
    () =>
      onUnreachable(() => {
        const known = client.getQueryState(healthQuery.queryKey);
        if (known?.status === "success" && known.fetchStatus === "idle")
          void client.invalidateQueries({ queryKey: healthQuery.queryKey });
      }),
    [client],
  );
}
