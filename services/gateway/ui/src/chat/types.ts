/** A chat as the page holds it: the contracts' shapes, with what is needed to take in events cheaply. */
import type { Approval, CallPart, Chat, CallOutput, Reply } from "../api/types.gen";

export interface TextView {
  readonly kind: "text" | "reasoning";
  readonly text: string;
  /** Code points of `text`: where the next delta belongs. */
  readonly length: number;
}

/** A stretch of a command's output, all of one stream. */
export interface OutputChunk {
  readonly stream: CallOutput["stream"];
  readonly text: string;
}

/** The live output of a call in the order it came, with the code points seen of each stream. */
export interface OutputView {
  readonly chunks: readonly OutputChunk[];
  readonly seen: Readonly<Record<CallOutput["stream"], number>>;
  /** Something that was written is not in `chunks`: it came before this page looked, or there was too much. */
  readonly incomplete: boolean;
}

export interface CallView {
  readonly kind: "call";
  readonly call: CallPart;
  readonly output: OutputView;
}

export type PartView = TextView | CallView;

export type ReplyView = Omit<Reply, "parts"> & { readonly parts: readonly PartView[] };

export interface ExchangeView {
  readonly exchangeId: string;
  readonly text: string;
  readonly createdAt: number;
  /** In the order they began. */
  readonly replyIds: readonly string[];
}

export interface ChatState extends Omit<Chat, "exchanges" | "approvals" | "last_event_id"> {
  readonly exchanges: readonly ExchangeView[];
  readonly replies: ReadonlyMap<string, ReplyView>;
  readonly approvals: ReadonlyMap<string, Approval>;
}

const ACTIVE: ReadonlySet<Reply["status"]> = new Set(["queued", "running", "waiting"]);

export function isActive(status: Reply["status"]): boolean {
  return ACTIVE.has(status);
}

/** The replies of a pane to an exchange, first attempt first. */
export function attemptsOf(state: ChatState, exchange: ExchangeView, paneId: string): ReplyView[] {
  return exchange.replyIds
    .map((id) => state.replies.get(id))
    .filter((reply) => reply?.pane_id === paneId)
    .filter((reply) => reply !== undefined)
    .sort((one, other) => one.attempt - other.attempt);
}

export function busyPanes(state: ChatState): Set<string> {
  const busy = new Set<string>();
  for (const reply of state.replies.values()) if (isActive(reply.status)) busy.add(reply.pane_id);
  return busy;
}

export function isPending(approval: Approval, now: number): boolean {
  return approval.state === "pending" && approval.expires_at > now;
}
