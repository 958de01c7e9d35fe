/** Chats and replies for tests: whole, plain, and changed where a test says so. */
import type { Approval, CallPart, Chat, Event, Exchange, Pane, Reply } from "../api/types.gen";

export const CHAT_ID = "c".repeat(32);
export const PANE_IDS = ["0".repeat(32), "1".repeat(32)] as const;

export function samplePane(position: 0 | 1): Pane {
  return {
    pane_id: PANE_IDS[position],
    position,
    model: { provider_id: "embedded", model: "small" },
    system_prompt: "",
    temperature: null,
    top_p: null,
    max_tokens: null,
    tools: true,
  };
}

export function sampleReply(id: string, change: Partial<Reply> = {}): Reply {
  return {
    reply_id: id,
    exchange_id: "x",
    pane_id: PANE_IDS[0],
    attempt: 1,
    model: { provider_id: "embedded", model: "small" },
    status: "running",
    parts: [],
    error: null,
    usage: { input_tokens: null, output_tokens: null },
    timings: { started_at: null, first_token_at: null, ended_at: null },
    ...change,
  };
}

export function sampleExchange(id: string, replies: Reply[] = []): Exchange {
  return { exchange_id: id, text: "Why?", created_at: 1, replies };
}

export function sampleChat(exchanges: Exchange[] = [], change: Partial<Chat> = {}): Chat {
  return {
    chat_id: CHAT_ID,
    title: "A chat",
    created_at: 1,
    updated_at: 1,
    panes: [samplePane(0), samplePane(1)],
    policies: {},
    network: false,
    exchanges,
    approvals: [],
    last_event_id: 0,
    ...change,
  };
}

export function sampleCall(change: Partial<CallPart> = {}): CallPart {
  return {
    kind: "call",
    call_id: "call",
    turn: 0,
    tool: "run_command",
    arguments: { command: "ls" },
    state: "running",
    approval_id: null,
    content: "",
    data: {},
    refusal: null,
    truncated: false,
    outside: false,
    network: [],
    started_at: null,
    ended_at: null,
    ...change,
  };
}

export function sampleApproval(change: Partial<Approval> = {}): Approval {
  return {
    approval_id: "a",
    chat_id: CHAT_ID,
    reply_id: "r",
    call_id: "call",
    tool: "run_command",
    arguments: { command: "ls" },
    call_hash: "f".repeat(64),
    network: false,
    created_at: 1,
    expires_at: 1_000,
    state: "pending",
    ...change,
  };
}

export function delta(text: string, offset: number, part = 0, replyId = "r"): Event {
  return { kind: "text_delta", chat_id: CHAT_ID, reply_id: replyId, part, channel: "text", offset, text };
}

export function output(text: string, offset: number, stream: "stdout" | "stderr" = "stdout"): Event {
  return { kind: "call_output", chat_id: CHAT_ID, reply_id: "r", call_id: "call", stream, offset, text };
}
