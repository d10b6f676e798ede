/** Opens the dialog that schedules a board or a kept answer. */
import { lazy, Suspense, useState } from "react";
import { Button, IconButton } from "../shell/Button";
import type { Subject } from "./ScheduleDialog";

const ScheduleDialog = lazy(() => import("./ScheduleDialog"));

export function ScheduleButton({ subject, small = false }: { subject: Subject; small?: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      {small ? (
        <IconButton icon="clock" label={`Schedule “${subject.title}”`} onClick={() => setOpen(true)} />
      ) : (
        <Button icon="clock" onClick={() => setOpen(true)}>
          Schedule…
        </Button>
      )}
      {open && (
        <Suspense fallback={null}>
          <ScheduleDialog subject={subject} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
