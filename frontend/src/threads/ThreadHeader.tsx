/** The thread's name and what can be taken away of the whole of it. */
import { download } from "../api/client";
import type { Preset } from "../api/types";
import { Button } from "../shell/Button";
import { followLink, paths } from "../shell/router";
import { useToast } from "../shell/useToast";
import css from "./ThreadHeader.module.css";

interface Props {
  title: string;
  threadId: string;
  preset: Preset | null;
  /** The title is only shown once the first question, which says the same, is out of sight. */
  showTitle: boolean;
}

export function ThreadHeader({ title, threadId, preset, showTitle }: Props) {
  const [said, say] = useToast();
  return (
    <header className={css["header"]}>
      <h1 className={showTitle ? css["title"] : "hidden-text"}>{title}</h1>
      {preset && (
        <a className={css["database"]} href={paths.data(preset.id)} onClick={followLink}>
          {preset.name}
        </a>
      )}
      <span className={css["said"]} role="status">
        {said}
      </span>
      <Button
        icon="download"
        onClick={() =>
          void download(`/threads/${encodeURIComponent(threadId)}/markdown`, "thread.md").catch((error: Error) =>
            say(error.message),
          )
        }
      >
        Thread as Markdown
      </Button>
    </header>
  );
}
