/** Keeps a result with its SQL and its chart; where it goes is asked in a dialog that is fetched when needed. */
import { lazy, Suspense, useState } from "react";
import { Button } from "../shell/Button";
import type { Look } from "./look";

const KeepDialog = lazy(() => import("../boards/KeepDialog"));

interface Props {
  runId: string;
  name: string;
  /** The chart as it is shown; null for a table. */
  look: Look | null;
}

export function KeepButton({ runId, name, look }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button compact icon="pin" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Keep
      </Button>
      {open && (
        <Suspense fallback={null}>
          <KeepDialog runId={runId} name={name} look={look} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
