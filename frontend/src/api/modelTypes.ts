/** The model of the server, as `/model` tells of it. */

/** The model in force for the whole server. */
export interface ModelSetting {
  name: string;
  base_url: string | null;
  has_key: boolean;
  offline: boolean;
  /** Chosen here, not by the server's environment. */
  kept: boolean;
  may_change: boolean;
  /** How questions are worked on. */
  strategy: string;
}

/** A model server on the server's own machine. */
export interface ModelServer {
  base_url: string;
  /** As it says itself; else empty. */
  kind: string;
  models: string[];
}

/** A small model that can be fetched to the server's machine, and how far it has come. */
export interface LocalModel {
  name: string;
  title: string;
  licence: string;
  /** Bytes of its file. */
  size: number;
  /** Bytes that it takes while it answers. */
  memory: number;
  /** 0..1: how many questions of a public test it answers right, if measured. */
  accuracy: number | null;
  /** Of a question, if measured. */
  seconds: number | null;
  state: "absent" | "fetching" | "fetched";
  /** Bytes that are there. */
  bytes: number;
  /** Why the last download failed; else empty. */
  problem: string;
  /** What has to be installed to run it; else empty. */
  needs: string;
}

/** What a model was found to be good for; null where that is not known. */
export interface Trial {
  ok: boolean;
  message: string;
  seconds: number;
  models: string[];
  /** The model that was tried. */
  name: string;
  server: string;
  context_tokens: number | null;
  first_token_seconds: number | null;
  tokens_per_second: number | null;
  structured: boolean | null;
  copies_example: boolean | null;
  asked: number;
  right: number;
  query_seconds: number | null;
  judges: boolean | null;
  /** The recommended one; `offline`: the built-in engine serves better. */
  strategy: string;
  reason: string;
}
