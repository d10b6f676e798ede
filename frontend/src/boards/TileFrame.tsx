/** A place on a board: as wide and as high as its owner wants it, with the handles that change that. */
import type { CSSProperties, HTMLAttributes, ReactNode } from "react";
import type { Tile } from "../api/boardTypes";
import { Button } from "../shell/Button";
import { Icon } from "../shell/Icon";
import css from "./Tile.module.css";
import { ROW } from "./useGrid";

type Handlers = HTMLAttributes<HTMLElement>;

export interface Arrange {
  handle: Handlers;
  corner: Handlers;
  dragged: boolean;
  unpin: () => void;
}

export interface Place {
  tile: Tile;
  index: number;
  /** Set while the board is arranged. */
  arrange: Arrange | null;
}

interface Props extends Place {
  title: string;
  busy?: boolean;
  children: ReactNode;
}

const QUARTERS = ["", "a quarter", "half", "three quarters", "all"] as const;

export function TileFrame({ tile, index, arrange, title, busy = false, children }: Props) {
  const size = `${QUARTERS[tile.width]} of the width, ${tile.height ? `${tile.height} rows high` : "as high as it takes"}`;
  const style = { "--width": tile.width, ...(tile.height ? { "--height": `${tile.height * ROW}px` } : {}) } as CSSProperties;
  return (
    <li className={css["tile"]} style={style} data-place={index} data-dragged={arrange?.dragged || undefined} aria-busy={busy}>
      {arrange && (
        <div className={css["arrange"]} role="group" aria-label={`Place of “${title}”`}>
          <button type="button" className={css["handle"]} {...arrange.handle} aria-label={`Move “${title}”`} title="Drag it, or press the arrow keys">
            <Icon name="menu" />
          </button>
          <button type="button" className={css["handle"]} {...arrange.corner} aria-label={`Size of “${title}”: ${size}`} title="Drag it, or press the arrow keys">
            <Icon name="down" />
          </button>
          <span className={css["size"]}>{size}</span>
          <Button icon="cross" onClick={arrange.unpin}>
            Unpin
          </Button>
        </div>
      )}
      {children}
    </li>
  );
}
