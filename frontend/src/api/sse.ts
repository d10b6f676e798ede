/** Server-sent events read from a fetch body, so that a stream can be the answer to a POST and carry a token. */

export interface Message {
  /** The message's number in its run; null where the server gave none. */
  id: number | null;
  data: string;
}

/** Splits text that arrives in arbitrary pieces into messages; comments (heartbeats) are passed over. */
export class SseParser {
  #rest = "";
  #id: number | null = null;
  #data: string[] = [];

  push(text: string): Message[] {
    const messages: Message[] = [];
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        if (this.#data.length > 0) messages.push({ id: this.#id, data: this.#data.join("\n") });
        this.#data = [];
      } else if (!line.startsWith(":")) {
        this.#field(line);
      }
    }
    return messages;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    if (name === "id" && /^\d+$/.test(value)) this.#id = Number(value);
  }
}

export class StreamStalled extends Error {
  override readonly name = "StreamStalled";
}

/**
 * The messages of a response body. Throws `StreamStalled` when nothing, not even a heartbeat, came for
 * `silenceMs` milliseconds: a connection can die without a word.
 */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  silenceMs = 25_000,
): AsyncGenerator<Message, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new SseParser();
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), silenceMs);
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new StreamStalled("Nothing was heard from the server.")), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
