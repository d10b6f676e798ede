/** The runs of the lab as the server documents them, beside `types.ts`. */

/** A run of the lab, as its summary has it. */
export interface LabRun {
  /** Its folder. */
  name: string;
  evolver: string;
  model: string;
  seed: number;
  ended: boolean;
  accepted: boolean;
  why: string;
  splits: LabSplit[];
}

export interface LabSplit {
  name: string;
  played: number;
  rounds: number;
  proof: LabProof | null;
  /** Rating of the agent without a kit. */
  base_elo: number;
  kits: LabKit[];
}

/** On held-out questions; McNemar's p. */
export interface LabProof {
  n: number;
  before: number;
  after: number;
  won: number;
  lost: number;
  p: number;
}

export interface LabKit {
  kit: string;
  round: number;
  by: string;
  parents: string[];
  note: string;
  elo: number;
  bradley_terry: number;
  chosen: boolean;
  /** Against the first parent; lines begin with `+ `, `- ` or two spaces. */
  changes: LabChange[];
}

export interface LabChange {
  file: string;
  lines: string[];
}
