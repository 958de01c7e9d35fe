/** The panes side by side; on a narrow screen one at a time, behind tabs. */
import { useState } from "preact/hooks";
import type { Store } from "../app/store";
import { busyPanes, isPending, type ChatState } from "../chat/types";
import { PaneView } from "./PaneView";

export function Panes({ store }: { store: Store }) {
  const [selected, setSelected] = useState(0);
  const chat = store.chat.value;
  if (!chat) return <div class="panes-empty" aria-busy="true" />;
  if (chat.panes.length === 0) return <NoModels store={store} />;
  const shown = Math.min(selected, chat.panes.length - 1);
  const busy = busyPanes(chat);
  const waiting = waitingPanes(chat);
  return (
    <div class="panes-area">
      <div class="pane-tabs" role="tablist" aria-label="Panes">
        {chat.panes.map((pane, index) => (
          <button
            key={pane.position}
            type="button"
            role="tab"
            class={`pane-tab accent-${pane.position}`}
            aria-selected={index === shown}
            aria-controls={`pane-${pane.position}`}
            data-testid={`pane-tab-${pane.position}`}
            onClick={() => {
              setSelected(index);
            }}
          >
            <span class={busy.has(pane.pane_id) ? "dot busy" : "dot"} />
            {pane.position + 1}
            {waiting.has(pane.pane_id) && <span class="tab-waiting">waits for you</span>}
          </button>
        ))}
      </div>
      <div class={`panes count-${chat.panes.length}`}>
        {chat.panes.map((pane, index) => (
          <PaneView
            key={`${chat.chat_id}/${pane.position}`}
            store={store}
            chat={chat}
            pane={pane}
            shown={index === shown}
            onShow={() => {
              setSelected(index);
            }}
          />
        ))}
      </div>
    </div>
  );
}

function waitingPanes(chat: ChatState): Set<string> {
  const pending = [...chat.approvals.values()].filter((approval) => isPending(approval, Date.now()));
  return new Set(pending.map(({ reply_id }) => chat.replies.get(reply_id)?.pane_id ?? ""));
}

function NoModels({ store }: { store: Store }) {
  const { problems } = store.models.value;
  return (
    <div class="panes-empty" role="status" data-testid="no-models">
      <h2>Waiting for a model</h2>
      <p class="muted">The embedded model takes a moment to start. This page looks again every few seconds.</p>
      {problems.map((problem) => (
        <p key={problem.provider_id} class="muted">
          {problem.provider_name}: {problem.detail}
        </p>
      ))}
    </div>
  );
}
