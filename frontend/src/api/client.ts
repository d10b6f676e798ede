/**
 * One way to call the server. Every failure is an `ApiError` with the server's own words; a server that cannot be
 * reached has status 0. A token, when the server wants one, lives as long as the browser tab.
 */

import { BASE } from "./base";

const TOKEN_KEY = "text2sql.token";

export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly requestId: string | null = null,
  ) {
    super(message);
  }

  /** True when nothing answered at all. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

const listeners = new Set<() => void>();
let refused = false;

/** Whether the server has refused us for want of a token; for `useSyncExternalStore`. */
export const access = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  refused: (): boolean => refused,
  enter(token: string): void {
    sessionStorage.setItem(TOKEN_KEY, token.trim());
    setRefused(false);
  },
};

function setRefused(value: boolean): void {
  if (refused === value) return;
  refused = value;
  for (const listener of listeners) listener();
}

export function authorization(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN_KEY);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Sends a request and returns the response when it is a success; throws `ApiError` otherwise. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  const token = sessionStorage.getItem(TOKEN_KEY);
  try {
    response = await fetch(BASE + path, { ...init, headers: { ...authorization(), ...init.headers } });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw unreachable("The server does not answer. Is it still running?");
  }
  if (response.ok) return response;
  // a token that was entered meanwhile has not been refused
  if (response.status === 401 && token === sessionStorage.getItem(TOKEN_KEY)) setRefused(true);
  throw await failure(response);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await send(path, signal ? { signal } : {});
  return (await response.json()) as T;
}

export async function post<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(path, jsonRequest(body, signal));
  return (await response.json()) as T;
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  const response = await send(path, { ...jsonRequest(body), method: "PATCH" });
  return (await response.json()) as T;
}

export async function put<T>(path: string, body: unknown): Promise<T> {
  const response = await send(path, { ...jsonRequest(body), method: "PUT" });
  return (await response.json()) as T;
}

export async function remove(path: string): Promise<void> {
  await send(path, { method: "DELETE" });
}

export function jsonRequest(body: unknown, signal?: AbortSignal): RequestInit {
  return {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body ?? {}),
    ...(signal ? { signal } : {}),
  };
}

async function failure(response: Response): Promise<ApiError> {
  let kind = "internal";
  let message = `The server answered ${response.status}.`;
  let requestId = response.headers.get("X-Request-ID");
  try {
    const { error } = (await response.json()) as { error?: Partial<Record<"kind" | "message" | "request_id", string>> };
    kind = error?.kind ?? kind;
    message = error?.message ?? message;
    requestId = error?.request_id ?? requestId;
  } catch {
    // a proxy in between may answer in HTML; the status says enough
  }
  // a development or reverse proxy answers for a server that is gone
  if (response.status === 502 || response.status === 504) return unreachable(message, requestId);
  return new ApiError(response.status, kind, message, requestId);
}

const awaits = new Set<() => void>();

/** Tells when a request was not answered at all; returns the way to stop being told. */
export function onUnreachable(listener: () => void): () => void {
  awaits.add(listener);
  return () => awaits.delete(listener);
}

function unreachable(message: string, requestId: string | null = null): ApiError {
  for (const listener of awaits) listener();
  return new ApiError(0, "unreachable", message, requestId);
}

/** Saves what a GET answers with as a file, by the name the server gives it. */
export async function download(path: string, fallbackName: string): Promise<void> {
  const response = await send(path);
  const header = response.headers.get("Content-Disposition") ?? "";
  const named = /filename\*=UTF-8''([^;]+)/i.exec(header) ?? /filename="?([^";]+)/i.exec(header);
  saveBlob(await response.blob(), named?.[1] ? decodeURIComponent(named[1]) : fallbackName);
}

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
