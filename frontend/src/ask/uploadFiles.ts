/** Sends files to be a private database, and hears how far the server has read them. */
import { ApiError, send } from "../api/client";
import { readMessages } from "../api/sse";
import type { Preset } from "../api/types";

/** What the server does at the moment, and how much of it: 0 to 1. */
export interface Progress {
  doing: string;
  part: number;
}

interface Told extends Partial<Progress> {
  database?: Preset;
  error?: { kind: string; message: string };
}

export async function uploadFiles(
  files: readonly File[],
  name = "",
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<Preset> {
  const body = new FormData();
  for (const file of files) body.append("file", file);
  if (name.trim()) body.append("name", name.trim());
  const headers = { Accept: "text/event-stream" };
  const response = await send("/databases/upload", { method: "POST", body, headers });
  if (!response.body) throw new ApiError(0, "internal", "The server sent nothing.");
  for await (const { data } of readMessages(response.body)) {
    const told = JSON.parse(data) as Told;
    if (told.error) throw new ApiError(400, told.error.kind, told.error.message);
    if (told.database) return told.database;
    if (told.doing !== undefined) onProgress({ doing: told.doing, part: told.part ?? 0 });
  }
  throw new ApiError(0, "internal", "The server ended before it had read the files.");
}

/** `writing sales, 40 %`; plain words before anything was heard. */
export function shown(progress: Progress | null): string {
  if (!progress) return "Reading it…";
  return `${progress.doing.charAt(0).toUpperCase()}${progress.doing.slice(1)}, ${Math.round(progress.part * 100)} %`;
}
