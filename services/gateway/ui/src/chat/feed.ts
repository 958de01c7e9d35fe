/** The open chat: loaded once, kept true by the event stream, loaded again when the stream says so. */
import { signal } from "@preact/signals";
import type { ApiError, Client } from "../api/client";
import { follow } from "../api/stream";
import type { Chat, Event } from "../api/types.gen";
import { applyEvents, openChat } from "./apply";
import { FrameBatch } from "./frames";
import type { ChatState } from "./types";

// A server whose events never fit would otherwise be asked for the chat without end.
const RELOAD_PAUSE_MS = 1_000;

export interface FeedListener {
  /** An event that also concerns what lies outside this chat. */
  onEvent(event: Event): void;
  onGone(): void;
  onError(error: unknown): void;
}

export class ChatFeed {
  readonly state = signal<ChatState | null>(null);
  readonly connected = signal(true);
  private readonly batch = new FrameBatch<Event>((events) => {
    this.apply(events);
  });
  private stopFollowing: () => void = () => undefined;
  private closed = false;
  private loading = false;
  private loadedAt = -Infinity;

  constructor(
    private readonly client: Client,
    readonly chatId: string,
    private readonly listener: FeedListener,
  ) {}

  /** Begins, with a chat that was just answered or by loading it. */
  start(chat?: Chat): void {
    if (chat) this.adopt(chat);
    else void this.load();
  }

  close(): void {
    this.closed = true;
    this.stopFollowing();
    this.batch.clear();
  }

  /** Takes in what an answer of the API said, as if it had come on the stream. */
  apply(events: readonly Event[]): void {
    const before = this.state.value;
    if (!before || this.closed) return;
    const { state, reload, gone } = applyEvents(before, events);
    this.state.value = state;
    for (const event of events) this.listener.onEvent(event);
    if (gone) this.listener.onGone();
    else if (reload) this.reload();
  }

  /** Shows a newer state of the chat and follows it from there. */
  adopt(chat: Chat): void {
    if (this.closed) return;
    this.stopFollowing();
    this.batch.clear();
    this.state.value = openChat(chat, this.state.value ?? undefined);
    this.stopFollowing = follow(this.client, chat.chat_id, chat.last_event_id, {
      onEvents: (events) => {
        this.batch.add(events.map(({ event }) => event));
      },
      onConnected: (connected) => {
        this.connected.value = connected;
      },
      onRefused: (error) => {
        this.refused(error);
      },
    });
  }

  private reload(): void {
    const wait = Math.max(0, this.loadedAt + RELOAD_PAUSE_MS - performance.now());
    if (wait === 0) void this.load();
    else setTimeout(() => void this.load(), wait);
  }

  private async load(): Promise<void> {
    if (this.closed || this.loading) return;
    this.loading = true;
    this.loadedAt = performance.now();
    try {
      this.adopt(await this.client.getChat(this.chatId));
    } catch (error) {
      if (!this.isClosed()) this.listener.onError(error);
    } finally {
      this.loading = false;
    }
  }

  // A function, since the compiler does not see that it changes while an answer is awaited.
  private isClosed(): boolean {
    return this.closed;
  }

  private refused(error: ApiError): void {
    if (error.status === 404) this.listener.onGone();
    else this.listener.onError(error);
  }
}
