/**
 * What events do to a chat: pure, and harmless when an event comes twice.
 *
 * A batch is applied at once (one per animation frame), and only what it touches gets a new identity, so that
 * everything else can be left alone when the page is drawn.
 */
import type { Approval, CallPart, Chat, Event, Exchange, Reply, TextDelta, TextPart } from "../api/types.gen";
import { countCodePoints, dropCodePoints } from "../text/codepoints";
import { addOutput, EMPTY_OUTPUT } from "./output";
import type { CallView, ChatState, ExchangeView, PartView, ReplyView, TextView } from "./types";

export interface Applied {
  readonly state: ChatState;
  /** Something is missing or was changed elsewhere: the chat has to be loaded again. */
  readonly reload: boolean;
  /** The chat was deleted. */
  readonly gone: boolean;
}

/** A chat just loaded. Live output is not in it; that of `before` is kept. */
export function openChat(chat: Chat, before?: ChatState): ChatState {
  const { chat_id, title, created_at, updated_at, panes, policies, network, exchanges, approvals } = chat;
  const replies = exchanges.flatMap((exchange) => exchange.replies);
  return {
    ...{ chat_id, title, created_at, updated_at, panes, policies, network },
    exchanges: exchanges.map(viewExchange),
    replies: new Map(
      replies.map((reply) => [reply.reply_id, keepOutput(viewReply(reply), before?.replies.get(reply.reply_id))]),
    ),
    approvals: new Map(approvals.map((approval) => [approval.approval_id, approval])),
  };
}

/** Applies events in their order. Those of other chats are left out. */
export function applyEvents(state: ChatState, events: readonly Event[]): Applied {
  const draft = new Draft(state);
  for (const event of events) {
    if (event.kind === "reset") draft.reload = true;
    else if (event.chat_id === state.chat_id) draft.apply(event);
  }
  return { state: draft.finish(), reload: draft.reload, gone: draft.gone };
}

class Draft {
  reload = false;
  gone = false;
  private exchanges: readonly ExchangeView[];
  // Copied at the first change of a batch, so that what did not change keeps its identity.
  private replies: Map<string, ReplyView> | null = null;
  private approvals: Map<string, Approval> | null = null;

  constructor(private readonly before: ChatState) {
    this.exchanges = before.exchanges;
  }

  apply(event: Exclude<Event, { kind: "reset" }>): void {
    switch (event.kind) {
      case "exchange_added":
        this.addExchange(event.exchange);
        break;
      case "reply_changed":
        this.changeReply(event.reply);
        break;
      case "text_delta":
        this.changePart(event.reply_id, event.part, (part) => withDelta(part, event));
        break;
      case "call_changed":
        this.changePart(event.reply_id, event.part, (part) => withCall(part, event.call));
        break;
      case "call_output":
        this.changeCall(event.reply_id, event.call_id, (view) => ({ ...view, output: addOutput(view.output, event) }));
        break;
      case "approval_changed":
        this.approvals ??= new Map(this.before.approvals);
        this.approvals.set(event.approval.approval_id, event.approval);
        break;
      case "chat_changed":
        if (event.chat) this.reload = true;
        else this.gone = true;
        break;
    }
  }

  finish(): ChatState {
    const { exchanges, replies, approvals } = this;
    if (exchanges === this.before.exchanges && !replies && !approvals) return this.before;
    return {
      ...this.before,
      exchanges,
      replies: replies ?? this.before.replies,
      approvals: approvals ?? this.before.approvals,
    };
  }

  private addExchange(exchange: Exchange): void {
    if (!this.exchanges.some(({ exchangeId }) => exchangeId === exchange.exchange_id)) {
      this.exchanges = [...this.exchanges, { ...viewExchange(exchange), replyIds: [] }];
    }
    for (const reply of exchange.replies) if (!this.reply(reply.reply_id)) this.changeReply(reply);
  }

  private changeReply(reply: Reply): void {
    const known = this.reply(reply.reply_id);
    if (!known && !this.listReply(reply)) {
      this.reload = true;
      return;
    }
    const view = viewReply(reply);
    this.setReply({ ...view, parts: known && known.parts.length > 0 ? known.parts : view.parts });
  }

  private reply(replyId: string): ReplyView | undefined {
    return (this.replies ?? this.before.replies).get(replyId);
  }

  private setReply(reply: ReplyView): void {
    this.replies ??= new Map(this.before.replies);
    this.replies.set(reply.reply_id, reply);
  }

  /** Puts a new reply into its exchange; false when that exchange is not known. */
  private listReply(reply: Reply): boolean {
    const index = this.exchanges.findIndex(({ exchangeId }) => exchangeId === reply.exchange_id);
    const exchange = this.exchanges[index];
    if (!exchange) return false;
    this.exchanges = this.exchanges.with(index, { ...exchange, replyIds: [...exchange.replyIds, reply.reply_id] });
    return true;
  }

  /** `change` gets the part at `index`, undefined where the next new one would be, and answers null when it cannot be. */
  private changePart(replyId: string, index: number, change: (part: PartView | undefined) => PartView | null): void {
    const reply = this.reply(replyId);
    const changed = reply && index <= reply.parts.length ? change(reply.parts[index]) : null;
    if (!reply || !changed) {
      this.reload = true;
      return;
    }
    if (changed === reply.parts[index]) return;
    const parts = index < reply.parts.length ? reply.parts.with(index, changed) : [...reply.parts, changed];
    this.setReply({ ...reply, parts });
  }

  private changeCall(replyId: string, callId: string, change: (view: CallView) => CallView): void {
    const parts = this.reply(replyId)?.parts ?? [];
    const index = parts.findIndex((part) => part.kind === "call" && part.call.call_id === callId);
    this.changePart(replyId, index < 0 ? parts.length : index, (part) => (part?.kind === "call" ? change(part) : null));
  }
}

/** The part with the delta's text at its offset; null when text before it is missing or the part is something else. */
function withDelta(part: PartView | undefined, delta: TextDelta): TextView | null {
  const before: PartView = part ?? { kind: delta.channel, text: "", length: 0 };
  if (before.kind !== delta.channel || delta.offset > before.length) return null;
  const text = dropCodePoints(delta.text, before.length - delta.offset);
  if (text === "" && part) return before;
  return { kind: before.kind, text: before.text + text, length: before.length + countCodePoints(text) };
}

function withCall(part: PartView | undefined, call: CallPart): CallView | null {
  if (part && (part.kind !== "call" || part.call.call_id !== call.call_id)) return null;
  return { kind: "call", call, output: part ? part.output : EMPTY_OUTPUT };
}

function viewExchange(exchange: Exchange): ExchangeView {
  return {
    exchangeId: exchange.exchange_id,
    text: exchange.text,
    createdAt: exchange.created_at,
    replyIds: exchange.replies.map((reply) => reply.reply_id),
  };
}

function viewReply(reply: Reply): ReplyView {
  return { ...reply, parts: reply.parts.map(viewPart) };
}

function keepOutput(reply: ReplyView, before: ReplyView | undefined): ReplyView {
  if (!before) return reply;
  const parts = reply.parts.map((part, index) => {
    const old = before.parts[index];
    const same = part.kind === "call" && old?.kind === "call" && old.call.call_id === part.call.call_id;
    return same ? { ...part, output: old.output } : part;
  });
  return { ...reply, parts };
}

function viewPart(part: TextPart | CallPart): PartView {
  if (part.kind === "call") return { kind: "call", call: part, output: EMPTY_OUTPUT };
  return { kind: part.kind, text: part.text, length: countCodePoints(part.text) };
}
