import { describe, expect, it, vi } from "vitest";
import { type Message, readMessages, SseParser, StreamStalled } from "../../src/api/sse";

async function all(messages: AsyncIterable<Message>): Promise<Message[]> {
  const found: Message[] = [];
  for await (const message of messages) found.push(message);
  return found;
}

describe("reading server-sent events", () => {
  it("finds the same messages however the text is cut", () => {
    const text = 'id: 1\r\ndata: {"a":1}\r\n\r\n: ping\n\nid: 2\ndata: x\ndata: y\n\n';
    for (let cut = 0; cut <= text.length; cut++) {
      const parser = new SseParser();
      const found = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
      expect(found).toEqual([
        { id: 1, data: '{"a":1}' },
        { id: 2, data: "x\ny" },
      ]);
    }
  });

  it("keeps a letter whole that arrives in two pieces", async () => {
    const bytes = new TextEncoder().encode("data: Zürich\n\n");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes.slice(0, 8));
        controller.enqueue(bytes.slice(8));
        controller.close();
      },
    });
    const found = await all(readMessages(body));
    expect(found).toEqual([{ id: null, data: "Zürich" }]);
  });

  it("gives up on a connection that has gone silent", async () => {
    vi.useFakeTimers();
    const body = new ReadableStream<Uint8Array>({ start: () => undefined });
    const reading = all(readMessages(body, 1000));
    const expected = expect(reading).rejects.toBeInstanceOf(StreamStalled);
    await vi.advanceTimersByTimeAsync(1001);
    await expected;
    vi.useRealTimers();
  });
});
