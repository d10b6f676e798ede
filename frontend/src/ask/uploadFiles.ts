/** Sends files to be a private database. */
import { send } from "../api/client";
import type { Preset } from "../api/types";

export async function uploadFiles(files: readonly File[], name = ""): Promise<Preset> {
  const body = new FormData();
  for (const file of files) body.append("file", file);
  if (name.trim()) body.append("name", name.trim());
  const response = await send("/databases/upload", { method: "POST", body });
  return (await response.json()) as Preset;
}
