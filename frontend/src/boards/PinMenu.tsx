/** Pins a kept answer to one of the boards that it is not on yet. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { BoardSummary, KeptAnswer } from "../api/boardTypes";
import { Menu } from "../shell/Menu";
import { IN_TURN, pin } from "./pin";

export function PinMenu({ answer, boards }: { answer: KeptAnswer; boards: readonly BoardSummary[] }) {
  const client = useQueryClient();
  const pinning = useMutation({
    scope: IN_TURN,
    mutationFn: (board: BoardSummary) => pin(answer.kept_id, board.board_id),
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
