import type { Trial } from "../src/api/modelTypes";

/** What a capable model was found to be good for, but for `more`. */
export const tried = (more: Partial<Trial>): Trial => ({
  ok: true,
  message: "1 2 3",
  seconds: 2,
  models: ["qwen"],
  name: "qwen",
  server: "Ollama",
  context_tokens: 16384,
  first_token_seconds: 0.2,
  tokens_per_second: 31,
  structured: true,
  copies_example: false,
  asked: 3,
  right: 3,
  query_seconds: 2.5,
  judges: true,
  strategy: "standard",
  reason: "It writes right queries.",
  ...more,
});
