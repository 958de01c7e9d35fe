/**
 * A call that waits for a person, shown exactly as it would run.
 *
 * The whole of it is on the card, however long, and the buttons come after its end. Nothing here takes the focus, and
 * no key allows: only a press on the button does.
 */
import { useState } from "preact/hooks";
import type { Approval, Pane, Verdict } from "../api/types.gen";
import type { Store } from "../app/store";
import { isPending } from "../chat/types";
import { countCodePoints } from "../text/codepoints";
import { visible } from "../text/visible";
import { Arguments } from "./CallRow";
import { useNow } from "./Elapsed";
import { Icon } from "./icons";
import { modelName } from "./PaneView";

export function ApprovalCard({ store, approval, pane }: { store: Store; approval: Approval; pane: Pane }) {
  const [sending, setSending] = useState(false);
  const now = useNow(approval.state === "pending");
  const open = isPending(approval, now);
  const decide = (decision: Verdict["decision"]) => {
    setSending(true);
    void store.decide(approval, decision).finally(() => {
      setSending(false);
    });
  };
  return (
    <section
      id={`approval-${approval.approval_id}`}
      class={open ? "approval-card" : "approval-card over"}
      aria-label={`${approval.tool} waits for you`}
      data-testid="approval-card"
      data-state={open ? "pending" : shownState(approval)}
      tabIndex={-1}
    >
      <header>
        <Icon name="shield" />
        <p>
          <strong>
            Pane {pane.position + 1} · {visible(modelName(store, pane))}
          </strong>{" "}
          {asks(approval.tool)}
        </p>
      </header>
      <Arguments call={approval} testId="approval-command" />
      <dl class="approval-facts">
        <div>
          <dt>Where</dt>
          <dd>{place(approval.tool)}</dd>
        </div>
        <div>
          <dt>Network</dt>
          <dd class={approval.network ? "fact-on" : undefined} data-testid="approval-network">
            {approval.network ? "on, public addresses only" : "off"}
          </dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd>{size(approval)}</dd>
        </div>
      </dl>
      {open ? (
        <div class="approval-actions">
          <button
            type="button"
            class="primary"
            disabled={sending}
            data-testid="allow"
            onClick={() => {
              decide("allow");
            }}
          >
            Allow this once
          </button>
          <button
            type="button"
            disabled={sending}
            data-testid="decline"
            onClick={() => {
              decide("decline");
            }}
          >
            Decline
          </button>
          <span class="muted">{timeLeft(approval.expires_at - now)}</span>
        </div>
      ) : (
        <p class="approval-over" data-testid="approval-over">
          {OVER[shownState(approval)]}
        </p>
      )}
    </section>
  );
}

const OVER = {
  allowed: "You allowed this.",
  used: "You allowed this, and it ran.",
  declined: "You declined this.",
  expired: "Nobody answered in time, so this was not run. Retry the reply to be asked again.",
} as const;

function shownState({ state }: Approval): keyof typeof OVER {
  return state === "pending" ? "expired" : state;
}

function asks(tool: string): string {
  if (tool === "run_command") return "wants to run this command:";
  if (tool === "run_js") return "wants to run this program:";
  return `wants to use ${visible(tool)} with exactly this:`;
}

function place(tool: string): string {
  return tool === "run_js" ? "a sandbox without files" : "this chat’s workspace";
}

function size({ arguments: given }: Approval): string {
  const [value, ...others] = Object.values(given);
  const text = typeof value === "string" && others.length === 0 ? value : JSON.stringify(given);
  const lines = text.split("\n").length;
  return `${lines === 1 ? "1 line" : `${lines} lines`}, ${countCodePoints(text)} characters`;
}

function timeLeft(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  if (milliseconds < 60_000) return `expires in ${Math.max(0, Math.ceil(milliseconds / 1_000))} s`;
  return minutes < 90 ? `expires in ${minutes} min` : `expires in ${Math.round(minutes / 60)} h`;
}
