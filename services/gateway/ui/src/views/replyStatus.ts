/** How a reply stands, in words and numbers. A number that is not known is left out, never guessed. */
import type { Reply } from "../api/types.gen";
import type { ReplyView } from "../chat/types";

export const STATUS_NAMES: Readonly<Record<Reply["status"], string>> = {
  queued: "Queued",
  running: "Answering",
  waiting: "Waits for you",
  complete: "Complete",
  stopped: "Stopped",
  interrupted: "Interrupted",
  failed: "Failed",
};

/**
 * What is known of a reply's size and speed. With calls in it the speed is not: the model waited for them, and for how
 * long is not in the numbers.
 */
export function statusFacts({ usage, timings, parts }: Pick<ReplyView, "usage" | "timings" | "parts">): string[] {
  const facts: string[] = [];
  const { started_at: started, first_token_at: first, ended_at: ended } = timings;
  if (usage.output_tokens !== null) facts.push(usage.output_tokens === 1 ? "1 token" : `${usage.output_tokens} tokens`);
  const waited = parts.some(({ kind }) => kind === "call");
  if (usage.output_tokens !== null && first !== null && ended !== null && ended > first && !waited) {
    facts.push(`${((usage.output_tokens * 1000) / (ended - first)).toFixed(1)} tokens/s`);
  }
  if (started !== null && first !== null && first >= started) facts.push(`${seconds(first - started)} to the first`);
  return facts;
}

/** A duration for people: two digits below ten seconds, whole seconds above, minutes from one on. */
export function seconds(milliseconds: number): string {
  const value = milliseconds / 1000;
  if (value < 10) return `${value.toFixed(2)} s`;
  if (value < 60) return `${Math.floor(value)} s`;
  return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
}
