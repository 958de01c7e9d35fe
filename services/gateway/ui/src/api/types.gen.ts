/* Made by `npm run types` from the contracts. Do not edit. */

export type Event =
  ExchangeAdded | ReplyChanged | TextDelta | CallChanged | CallOutput | ApprovalChanged | ChatChanged | Reset;

/**
 * A call that waits for a person. `call_hash` binds it: what is allowed is exactly what was shown, once.
 */
export interface Approval {
  approval_id: string;
  chat_id: string;
  reply_id: string;
  call_id: string;
  tool: string;
  arguments: {
    [k: string]: unknown;
  };
  call_hash: string;
  network: boolean;
  created_at: number;
  expires_at: number;
  state: "pending" | "allowed" | "declined" | "expired" | "used";
}
/**
 * An approval is asked for, or no longer waits.
 */
export interface ApprovalChanged {
  kind: "approval_changed";
  chat_id: string;
  approval: Approval;
}
/**
 * All approvals that wait, of all chats.
 */
export interface Approvals {
  approvals: Approval[];
}
/**
 * The tool call at index `part` of a reply is new or has changed.
 */
export interface CallChanged {
  kind: "call_changed";
  chat_id: string;
  reply_id: string;
  part: number;
  call: CallPart;
}
/**
 * A tool call and what became of it. `arguments` is what the model asked, exactly.
 *
 * `turn` counts the model's responses in this reply, from 0: calls of one response were asked for together.
 * `outside` says that `content` is outside text (a command had the network): the model gets it wrapped.
 */
export interface CallPart {
  kind: "call";
  call_id: string;
  turn: number;
  tool: string;
  arguments: {
    [k: string]: unknown;
  };
  state: "waiting" | "running" | "ok" | "refused" | "declined" | "failed" | "stopped" | "timed_out";
  approval_id: string | null;
  content: string;
  outside: boolean;
  data: {
    [k: string]: unknown;
  };
  refusal: Refusal | null;
  truncated: boolean;
  network: NetworkDecision[];
  started_at: number | null;
  ended_at: number | null;
}
/**
 * Why something was not done: a stable code, a sentence for a person, and what would make it work.
 */
export interface Refusal {
  code: string;
  detail: string;
  hint: string;
}
/**
 * A call asked for a host and port; this is what became of it.
 *
 * A request without a valid ticket has no call to belong to and is only counted by egress, never sent.
 */
export interface NetworkDecision {
  kind: "network-decision";
  call_id: string;
  time: number;
  method: "CONNECT" | "HTTP";
  host: string;
  port: number;
  outcome: "connected" | "refused" | "failed";
  code: string | null;
  address: string | null;
}
/**
 * What a running command wrote; `offset` counts the characters before it in that stream.
 */
export interface CallOutput {
  kind: "call_output";
  chat_id: string;
  reply_id: string;
  call_id: string;
  stream: "stdout" | "stderr";
  offset: number;
  text: string;
}
/**
 * A whole chat. Events with an id above `last_event_id` are not in it yet.
 */
export interface Chat {
  title: string;
  chat_id: string;
  created_at: number;
  updated_at: number;
  panes: Pane[];
  policies: {
    [k: string]: "auto" | "ask" | "off";
  };
  network: boolean;
  exchanges: Exchange[];
  approvals: Approval[];
  last_event_id: number;
}
/**
 * A pane of a chat; its place (0 to 3, from the left) is `position`.
 */
export interface Pane {
  model: ModelRef;
  system_prompt: string;
  temperature: number | null;
  top_p: number | null;
  max_tokens: number | null;
  tools: boolean;
  pane_id: string;
  position: number;
}
/**
 * A model of a provider.
 */
export interface ModelRef {
  provider_id: string;
  model: string;
}
/**
 * A person's message and the replies to it, of all panes and attempts, oldest first.
 */
export interface Exchange {
  exchange_id: string;
  text: string;
  created_at: number;
  replies: Reply[];
}
/**
 * One pane's answer to one message; `attempt` counts from 1, a retry adds one.
 */
export interface Reply {
  reply_id: string;
  exchange_id: string;
  pane_id: string;
  attempt: number;
  model: ModelRef;
  status: "queued" | "running" | "waiting" | "complete" | "stopped" | "interrupted" | "failed";
  parts: (TextPart | CallPart)[];
  error: Refusal | null;
  usage: Usage;
  timings: Timings;
}
/**
 * Text of the model, or its reasoning where it gives some.
 */
export interface TextPart {
  kind: "text" | "reasoning";
  text: string;
}
/**
 * Tokens of a reply as the endpoint reported them; None where it reported nothing.
 */
export interface Usage {
  input_tokens: number | null;
  output_tokens: number | null;
}
/**
 * When a reply began, gave its first token, and ended.
 */
export interface Timings {
  started_at: number | null;
  first_token_at: number | null;
  ended_at: number | null;
}
/**
 * Change a chat; what is absent stays. `panes` replaces all panes: the first keeps the first one's identity, and so on.
 */
export interface ChatChange {
  title?: string | null;
  policies?: {
    [k: string]: "auto" | "ask" | "off";
  } | null;
  network?: boolean | null;
  panes?: PaneSettings[] | null;
}
/**
 * What a person sets for one pane. `tools` false leaves all tools out of this pane's requests.
 */
export interface PaneSettings {
  model: ModelRef;
  system_prompt?: string;
  temperature?: number | null;
  top_p?: number | null;
  max_tokens?: number | null;
  tools?: boolean;
}
/**
 * A chat was renamed or deleted, or its panes, policies or network switch changed: load it again.
 */
export interface ChatChanged {
  kind: "chat_changed";
  chat_id: string;
  chat: ChatSummary | null;
}
/**
 * A chat in the history.
 */
export interface ChatSummary {
  title: string;
  chat_id: string;
  created_at: number;
  updated_at: number;
}
/**
 * All chats, the last changed first.
 */
export interface Chats {
  chats: ChatSummary[];
}
/**
 * Nothing to say.
 */
export interface Empty {}
/**
 * The body of every answer of the API whose status is 400 or above.
 */
export interface ErrorBody {
  code: string;
  detail: string;
  hint: string;
  request_id: string;
}
/**
 * A message was sent; its replies follow as `ReplyChanged`.
 */
export interface ExchangeAdded {
  kind: "exchange_added";
  chat_id: string;
  exchange: Exchange;
}
/**
 * A reply began, waits, goes on or ended. Its parts are not in it (they have come as deltas) unless it just began.
 */
export interface ReplyChanged {
  kind: "reply_changed";
  chat_id: string;
  reply: Reply;
}
/**
 * Text for the part at index `part` of a reply; `offset` counts the characters (code points) before it in that part.
 */
export interface TextDelta {
  kind: "text_delta";
  chat_id: string;
  reply_id: string;
  part: number;
  channel: "text" | "reasoning";
  offset: number;
  text: string;
}
/**
 * What was asked for is no longer kept: load the chat again and go on from its `last_event_id`.
 */
export interface Reset {
  kind: "reset";
}
/**
 * A file or folder of a workspace. `size` is in bytes, None for a folder.
 */
export interface FileEntry {
  path: string;
  kind: "file" | "folder" | "other";
  size: number | null;
  modified_at: number;
}
/**
 * The files of a chat's workspace, at most 1,000; `truncated` says that there are more.
 */
export interface Files {
  files: FileEntry[];
  truncated: boolean;
}
/**
 * Exchange the one-time code of the login link for a session.
 */
export interface LoginCode {
  code: string;
}
/**
 * A model that a provider offers.
 */
export interface Model {
  provider_id: string;
  provider_name: string;
  model: string;
  label: string;
  tool_calls: "native" | "constrained" | "none";
  embedded: boolean;
}
/**
 * What can be asked now.
 */
export interface Models {
  models: Model[];
  problems: ProviderProblem[];
}
/**
 * A provider that could not be asked for its models, and why.
 */
export interface ProviderProblem {
  provider_id: string;
  provider_name: string;
  detail: string;
}
/**
 * Begin a chat with one to four panes.
 */
export interface NewChat {
  title?: string;
  /**
   * @minItems 1
   * @maxItems 4
   */
  panes: PaneSettings[];
}
/**
 * Send a message to all panes, or to those named.
 */
export interface NewMessage {
  text: string;
  pane_ids?: string[] | null;
}
/**
 * Add an OpenAI-compatible endpoint. Redirects are not followed. Endpoints that need a key come with the vault.
 */
export interface NewProvider {
  name: string;
  base_url: string;
  tool_calls?: "native" | "constrained" | "none";
}
/**
 * An endpoint. `embedded` is the model that comes with Switchbox and cannot be removed.
 */
export interface Provider {
  name: string;
  base_url: string;
  tool_calls: "native" | "constrained" | "none";
  provider_id: string;
  embedded: boolean;
}
/**
 * All providers.
 */
export interface Providers {
  providers: Provider[];
}
/**
 * A session token, to be sent in the header `X-Switchbox-Session`.
 */
export interface Session {
  token: string;
  expires_at: number;
}
/**
 * A tool, as a person sees it.
 */
export interface ToolInfo {
  name: string;
  description: string;
  effect: "read" | "write" | "run";
  default_policy: "auto" | "ask" | "off";
}
/**
 * All tools.
 */
export interface Tools {
  tools: ToolInfo[];
}
/**
 * A person's word on an approval; `call_hash` is that of the call the person was shown.
 */
export interface Verdict {
  decision: "allow" | "decline";
  call_hash: string;
}
