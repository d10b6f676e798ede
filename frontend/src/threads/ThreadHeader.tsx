/** The thread's name and what can be taken away of the whole of it. */
import { useQueryClient } from "@tanstack/react-query";
import type { BoardSummary } from "../api/boardTypes";
import { download, post } from "../api/client";
import type { Preset } from "../api/types";
import { Button } from "../shell/Button";
import { fileName } from "../shell/fileName";
import { Menu } from "../shell/Menu";
import { followLink, go, paths } from "../shell/router";
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
  const client = useQueryClient();
  const [said, say] = useToast();
  const save = (format: string, ending: string) => {
    const path = `/threads/${encodeURIComponent(threadId)}/export?format=${format}`;
    void download(path, `${fileName(title)}.${ending}`).catch((error: Error) => say(error.message));
  };
  const makeBoard = () =>
    void post<BoardSummary>("/boards", { title, thread_id: threadId }).then(
      (board) => {
        void client.invalidateQueries({ queryKey: ["boards"] });
        void client.invalidateQueries({ queryKey: ["kept"] });
        go(paths.board(board.board_id));
      },
      (error: Error) => say(error.message),
    );
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
      <Button icon="board" compact onClick={makeBoard}>
        Make a board
      </Button>
      <Menu
        icon="download"
        label="Save the thread"
        items={[
          { name: "HTML", run: () => save("html", "html") },
          { name: "Markdown", run: () => save("markdown", "md") },
        ]}
      />
    </header>
  );
}
