/** One answer: its text and calls in their order, how it stands, and what can be done with it. */
import { memo } from "preact/compat";
import type { Approval, Pane } from "../api/types.gen";
import type { Store } from "../app/store";
import { isActive, type PartView, type ReplyView } from "../chat/types";
import { Markdown } from "../markdown/Markdown";
import { ApprovalCard } from "./ApprovalCard";
import { CallRow } from "./CallRow";
import { CopyButton } from "./CopyButton";
import { Elapsed } from "./Elapsed";
import { Icon } from "./icons";
import { ErrorLine } from "./ErrorLine";
import { statusFacts, STATUS_NAMES } from "./replyStatus";

interface Props {
  readonly store: Store;
  readonly pane: Pane;
  readonly reply: ReplyView;
  readonly last: boolean;
  readonly approvals: ReadonlyMap<string, Approval>;
}

export function Reply({ store, pane, reply, last, approvals }: Props) {
  const active = isActive(reply.status);
  return (
    <article class="reply" data-testid="reply" data-status={reply.status} data-reply-id={reply.reply_id}>
      <div class="reply-parts" data-testid="reply-text">
        {reply.parts.map((part, index) => {
          const growing = active && index === reply.parts.length - 1;
          const approval = part.kind === "call" ? approvalOf(part.call, approvals) : undefined;
          return (
            <div key={index} class="part">
              <Part part={part} growing={growing} />
              {active && approval && part.kind === "call" && part.call.state === "waiting" && (
                <ApprovalCard store={store} approval={approval} pane={pane} />
              )}
            </div>
          );
        })}
      </div>
      {reply.error && <ErrorLine error={reply.error} />}
      <footer class="reply-foot">
        <span class={`status status-${reply.status}`} data-testid="reply-status">
          {active && <span class="pulse" aria-hidden="true" />}
          <span class={reply.status === "complete" ? "visually-hidden" : undefined}>{STATUS_NAMES[reply.status]}</span>
          {active && reply.status !== "waiting" && <Elapsed since={reply.timings.started_at} />}
        </span>
        {statusFacts(reply).map((fact) => (
          <span key={fact} class="fact">
            {fact}
          </span>
        ))}
        <span class="spacer" />
        {!active && <ReplyActions store={store} reply={reply} last={last} />}
      </footer>
    </article>
  );
}

const Part = memo(({ part, growing }: { part: PartView; growing: boolean }) => {
  if (part.kind === "call") return <CallRow view={part} />;
  if (part.kind === "text") return <Markdown text={part.text} growing={growing} />;
  return (
    <details class="reasoning" data-testid="reasoning">
      <summary>{growing ? "Thinking…" : "Thoughts"}</summary>
      <Markdown text={part.text} growing={growing} />
    </details>
  );
});

function ReplyActions({ store, reply, last }: { store: Store; reply: ReplyView; last: boolean }) {
  const text = reply.parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n\n");
  return (
    <span class="reply-actions">
      {text.trim() !== "" && <CopyButton text={text.trim()} label="Copy the reply" />}
      {last && (
        <button
          type="button"
          class="quiet small"
          title="Answer the question afresh"
          data-testid="retry"
          onClick={() => void store.retryReply(reply.reply_id)}
        >
          <Icon name="retry" />
          Retry
        </button>
      )}
      {last && (
        <button
          type="button"
          class="quiet small"
          title="Go on from where this reply ends"
          data-testid="continue"
          onClick={() => void store.continueReply(reply.reply_id)}
        >
          <Icon name="play" />
          Continue
        </button>
      )}
    </span>
  );
}

function approvalOf(
  call: { readonly call_id: string; readonly approval_id: string | null },
  approvals: ReadonlyMap<string, Approval>,
): Approval | undefined {
  if (call.approval_id !== null) return approvals.get(call.approval_id);
  return [...approvals.values()].find((approval) => approval.call_id === call.call_id);
}
