/** Changes of boards, one after the other: each sends the whole list of tiles, and the last one stands. */
import { get, patch } from "../api/client";
import { boardPath } from "../api/queries";
import type { Board } from "../api/boardTypes";

/** The scope of every mutation that changes a board. */
export const IN_TURN = { id: "boards" };

/** Pins a kept answer below what the board holds by now. */
export async function pin(keptId: string, boardId: string): Promise<void> {
  const path = boardPath({ boardId });
  const { tiles } = await get<Board>(path);
  await patch(path, { tiles: [...tiles, { kept_id: keptId }] });
}
