/** The one event stream of a tab: opened by fetch, so that the session can travel in a header, and resumed by id. */
import * as v from "valibot";
import { ApiError, type Client } from "./client";
import { event as eventSchema } from "./schemas";
import { SseParser, type SseMessage } from "./sse";
import type { Event } from "./types.gen";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
// The core sends a heartbeat every few seconds; a stream that is silent for this long is dead without having said so.
export const SILENCE_MS = 45_000;

export interface NumberedEvent {
  readonly id: number;
  readonly event: Event;
}

export interface StreamListener {
  onEvents(events: readonly NumberedEvent[]): void;
  /** `false` while the stream is down and being tried again. */
  onConnected(connected: boolean): void;
  /** The server will not serve this stream: the session or the chat is gone. */
  onRefused(error: ApiError): void;
}

/** An event and its number; null for what this version does not know. */
export function parseEvent(message: SseMessage): NumberedEvent | null {
  let json: unknown;
  try {
    json = JSON.parse(message.data);
  } catch {
    return null;
  }
  const parsed = v.safeParse(eventSchema, json);
  if (!parsed.success) return null;
  const id = /^\d{1,15}$/.test(message.id) ? Number(message.id) : 0;
  return { id, event: parsed.output };
}

/** How long to wait before attempt number `attempt` (from 0): doubling, with up to a quarter of chance in it. */
export function backOff(attempt: number, chance: number): number {
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
  return wait * (1 - chance / 4);
}

/** Keeps the stream of a chat open from `after` on until the returned function is called. */
export function follow(client: Client, chatId: string, after: number, listener: StreamListener): () => void {
  const stop = new AbortController();
  void run(client, chatId, after, listener, stop.signal);
  return () => {
    stop.abort();
  };
}

async function run(client: Client, chatId: string, after: number, listener: StreamListener, stop: AbortSignal) {
  let last = after;
  let attempt = 0;
  while (!stop.aborted) {
    try {
      for await (const events of readOnce(client, chatId, last, stop, listener)) {
        attempt = 0;
        last = Math.max(last, ...events.map((numbered) => numbered.id));
        listener.onEvents(events);
      }
    } catch (error) {
      if (isFinal(error)) {
        listener.onRefused(error);
        return;
      }
    }
    if (isAborted(stop)) return;
    listener.onConnected(false);
    await pause(backOff(attempt, Math.random()), stop);
    attempt += 1;
  }
}

async function* readOnce(client: Client, chatId: string, after: number, stop: AbortSignal, listener: StreamListener) {
  const silence = new AbortController();
  let timer = setTimeout(giveUp, SILENCE_MS);
  function giveUp() {
    silence.abort();
  }
  try {
    const response = await client.events(chatId, after, AbortSignal.any([stop, silence.signal]));
    if (!response.body) return;
    listener.onConnected(true);
    const parser = new SseParser();
    for await (const text of texts(response.body)) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, SILENCE_MS);
      const events = parser.push(text).map(parseEvent).filter((numbered) => numbered !== null);
      if (events.length > 0) yield events;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The body as text, closed when the reader goes. (Not every browser can iterate over a stream itself.) */
async function* texts(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

// A function, since the compiler would take the answer of the loop's own condition for still true.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** 4xx will not get better by asking again, except "too many" and "took too long". */
function isFinal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return error.status >= 400 && error.status < 500 && error.status !== 429 && error.status !== 408;
}

function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    stop.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
