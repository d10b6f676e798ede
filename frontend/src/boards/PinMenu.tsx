/** Pins a kept answer to one of the boards that it is not on yet. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { patch } from "../api/client";
import { boardPath } from "../api/queries";
import type { BoardSummary, KeptAnswer } from "../api/types";
import { Menu } from "../shell/Menu";

export function PinMenu({ answer, boards }: { answer: KeptAnswer; boards: readonly BoardSummary[] }) {
  const client = useQueryClient();
  const pinning = useMutation({
    mutationFn: (board: BoardSummary) =>
      patch(boardPath({ boardId: board.board_id }), { tiles: [...board.tiles, { kept_id: answer.kept_id }] }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["boards"] }),
  });
  if (boards.length === 0) return null;
  return (
    <Menu
      compact
      icon="pin"
      label="Pin to"
      items={boards.map((board) => ({ name: board.title, run: () => pinning.mutate(board) }))}
    />
  );
}
