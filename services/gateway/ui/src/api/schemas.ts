/**
 * What comes from the server is parsed here, before anything else sees it.
 *
 * The schemas are written by hand and kept true by the compiler: each must give exactly the type made from the
 * contracts (see the assertions at the end). Unknown fields are left out, so that a newer server does no harm.
 */
import * as v from "valibot";
import type * as api from "./types.gen";

const json = v.record(v.string(), v.unknown());
const time = v.nullable(v.number());
const policy = v.picklist(["auto", "ask", "off"]);

export const session = v.object({ token: v.string(), expires_at: v.number() });
export const empty = v.object({});

export const errorBody = v.object({
  code: v.string(),
  detail: v.string(),
  hint: v.optional(v.string(), ""),
  request_id: v.optional(v.string(), ""),
});

const refusal = v.object({ code: v.string(), detail: v.string(), hint: v.string() });
const modelRef = v.object({ provider_id: v.string(), model: v.string() });

const pane = v.object({
  model: modelRef,
  system_prompt: v.string(),
  temperature: v.nullable(v.number()),
  top_p: v.nullable(v.number()),
  max_tokens: v.nullable(v.number()),
  tools: v.boolean(),
  pane_id: v.string(),
  position: v.number(),
});

const networkDecision = v.object({
  kind: v.literal("network-decision"),
  call_id: v.string(),
  time: v.number(),
  method: v.picklist(["CONNECT", "HTTP"]),
  host: v.string(),
  port: v.number(),
  outcome: v.picklist(["connected", "refused", "failed"]),
  code: v.nullable(v.string()),
  address: v.nullable(v.string()),
});

const textPart = v.object({ kind: v.picklist(["text", "reasoning"]), text: v.string() });

const callPart = v.object({
  kind: v.literal("call"),
  call_id: v.string(),
  turn: v.optional(v.number(), 0),
  tool: v.string(),
  arguments: json,
  state: v.picklist(["waiting", "running", "ok", "refused", "declined", "failed", "stopped", "timed_out"]),
  approval_id: v.nullable(v.string()),
  content: v.string(),
  data: json,
  refusal: v.nullable(refusal),
  truncated: v.boolean(),
  outside: v.optional(v.boolean(), false),
  network: v.array(networkDecision),
  started_at: time,
  ended_at: time,
});

export const reply = v.object({
  reply_id: v.string(),
  exchange_id: v.string(),
  pane_id: v.string(),
  attempt: v.number(),
  model: modelRef,
  status: v.picklist(["queued", "running", "waiting", "complete", "stopped", "interrupted", "failed"]),
  parts: v.array(v.variant("kind", [textPart, callPart])),
  error: v.nullable(refusal),
  usage: v.object({ input_tokens: v.nullable(v.number()), output_tokens: v.nullable(v.number()) }),
  timings: v.object({ started_at: time, first_token_at: time, ended_at: time }),
});

export const exchange = v.object({
  exchange_id: v.string(),
  text: v.string(),
  created_at: v.number(),
  replies: v.array(reply),
});

export const approval = v.object({
  approval_id: v.string(),
  chat_id: v.string(),
  reply_id: v.string(),
  call_id: v.string(),
  tool: v.string(),
  arguments: json,
  call_hash: v.string(),
  network: v.boolean(),
  created_at: v.number(),
  expires_at: v.number(),
  state: v.picklist(["pending", "allowed", "declined", "expired", "used"]),
});

const chatSummary = v.object({
  chat_id: v.string(),
  title: v.string(),
  created_at: v.number(),
  updated_at: v.number(),
});

export const chat = v.object({
  ...chatSummary.entries,
  panes: v.array(pane),
  policies: v.record(v.string(), policy),
  network: v.boolean(),
  exchanges: v.array(exchange),
  approvals: v.array(approval),
  last_event_id: v.number(),
});

export const chats = v.object({ chats: v.array(chatSummary) });
export const approvals = v.object({ approvals: v.array(approval) });

const model = v.object({
  provider_id: v.string(),
  provider_name: v.string(),
  model: v.string(),
  label: v.string(),
  tool_calls: v.picklist(["native", "constrained", "none"]),
  embedded: v.boolean(),
});

export const models = v.object({
  models: v.array(model),
  problems: v.array(v.object({ provider_id: v.string(), provider_name: v.string(), detail: v.string() })),
});

export const tools = v.object({
  tools: v.array(
    v.object({
      name: v.string(),
      description: v.string(),
      effect: v.picklist(["read", "write", "run"]),
      default_policy: policy,
    }),
  ),
});

const inChat = { chat_id: v.string() };
const inReply = { ...inChat, reply_id: v.string() };

export const event = v.variant("kind", [
  v.object({ kind: v.literal("exchange_added"), ...inChat, exchange }),
  v.object({ kind: v.literal("reply_changed"), ...inChat, reply }),
  v.object({
    kind: v.literal("text_delta"),
    ...inReply,
    part: v.number(),
    channel: v.picklist(["text", "reasoning"]),
    offset: v.number(),
    text: v.string(),
  }),
  v.object({ kind: v.literal("call_changed"), ...inReply, part: v.number(), call: callPart }),
  v.object({
    kind: v.literal("call_output"),
    ...inReply,
    call_id: v.string(),
    stream: v.picklist(["stdout", "stderr"]),
    offset: v.number(),
    text: v.string(),
  }),
  v.object({ kind: v.literal("approval_changed"), ...inChat, approval }),
  v.object({ kind: v.literal("chat_changed"), ...inChat, chat: v.nullable(chatSummary) }),
  v.object({ kind: v.literal("reset") }),
]);

/** Compiles only when both types are the same. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;
type Checked<T extends true> = T;

export type SchemasFollowTheContracts = [
  Checked<Same<v.InferOutput<typeof session>, api.Session>>,
  Checked<Same<v.InferOutput<typeof errorBody>, api.ErrorBody>>,
  Checked<Same<v.InferOutput<typeof reply>, api.Reply>>,
  Checked<Same<v.InferOutput<typeof exchange>, api.Exchange>>,
  Checked<Same<v.InferOutput<typeof approval>, api.Approval>>,
  Checked<Same<v.InferOutput<typeof chat>, api.Chat>>,
  Checked<Same<v.InferOutput<typeof chats>, api.Chats>>,
  Checked<Same<v.InferOutput<typeof approvals>, api.Approvals>>,
  Checked<Same<v.InferOutput<typeof models>, api.Models>>,
  Checked<Same<v.InferOutput<typeof tools>, api.Tools>>,
  Checked<Same<v.InferOutput<typeof event>, api.Event>>,
];
