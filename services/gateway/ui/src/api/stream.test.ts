import { describe, expect, test } from "vitest";
import { Client } from "./client";
import { backOff, follow, parseEvent, type NumberedEvent } from "./stream";

const delta = {
  kind: "text_delta",
  chat_id: "c",
  reply_id: "r",
  part: 0,
  channel: "text",
  offset: 0,
  text: "Hi",
} as const;

describe("parseEvent", () => {
  test("reads an event with its number", () => {
    expect(parseEvent({ id: "12", data: JSON.stringify(delta) })).toEqual({ id: 12, event: delta });
  });

  test("leaves out fields it does not know", () => {
    expect(parseEvent({ id: "1", data: JSON.stringify({ ...delta, later: true }) })?.event).toEqual(delta);
  });

  test.each([
    ["text that is not JSON", "{"],
    ["an unknown kind", JSON.stringify({ kind: "later" })],
    ["a missing field", JSON.stringify({ ...delta, offset: undefined })],
    ["a wrong type", JSON.stringify({ ...delta, text: 5 })],
    ["a wrong choice", JSON.stringify({ ...delta, channel: "html" })],
    ["null", "null"],
  ])("drops %s", (_, data) => {
    expect(parseEvent({ id: "1", data })).toBeNull();
  });
});

describe("backOff", () => {
  test("doubles up to ten seconds and never goes below three quarters of that", () => {
    expect([0, 1, 2, 3].map((attempt) => backOff(attempt, 0))).toEqual([250, 500, 1_000, 2_000]);
    expect(backOff(50, 0)).toBe(10_000);
    expect(backOff(50, 1)).toBe(7_500);
  });
});

/** A server whose answers are given one after the other; each is the text of a stream, or a status. */
class PlayedClient extends Client {
  readonly asked: number[] = [];

  constructor(private readonly answers: (string | number)[]) {
    super("token");
  }

  override events = (_chat: string, after: number): Promise<Response> => {
    this.asked.push(after);
    const answer = this.answers.shift();
    if (answer === undefined) return new Promise(() => undefined);
    if (typeof answer === "number") return Promise.reject(new TypeError("the connection broke"));
    return Promise.resolve(new Response(answer));
  };
}

describe("follow", () => {
  const message = (id: number) => `id: ${id}\ndata: ${JSON.stringify({ ...delta, offset: id })}\n\n`;

  test("goes on after the last event it saw when the stream breaks off", async () => {
    const client = new PlayedClient([message(5) + message(6) + "data: cut off", 0, message(7)]);
    const seen: NumberedEvent[] = [];
    const connected: boolean[] = [];
    await new Promise<void>((resolve) => {
      const stop = follow(client, "c", 4, {
        onEvents: (events) => {
          seen.push(...events);
          if (seen.length === 3) {
            stop();
            resolve();
          }
        },
        onConnected: (state) => connected.push(state),
        onRefused: () => undefined,
      });
    });
    expect(seen.map(({ id }) => id)).toEqual([5, 6, 7]);
    expect(client.asked).toEqual([4, 6, 6]);
    expect(connected).toEqual([true, false, false, true]);
  });
});
