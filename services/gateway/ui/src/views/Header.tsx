/** The line above the panes: the chat's name, what waits for a person, and the chat's switches. */
import { useState } from "preact/hooks";
import type { Store } from "../app/store";
import { DRAFT_ID, MAX_PANES } from "../app/draft";
import { isDark, toggleTheme } from "../app/theme";
import { Icon } from "./icons";
import { PoliciesDialog } from "./PoliciesDialog";
import { nameOf } from "./Sidebar";

export function Header({ store, onMenu }: { store: Store; onMenu: () => void }) {
  const [policies, setPolicies] = useState(false);
  const chat = store.chat.value;
  const isDraft = chat?.chat_id === DRAFT_ID;
  const dark = isDark();
  return (
    <header class="header">
      <button type="button" class="quiet menu" aria-label="Chats" data-testid="menu" onClick={onMenu}>
        <Icon name="menu" />
      </button>
      <h1 class="chat-title" data-testid="chat-title">
        {!chat ? "…" : isDraft ? "New chat" : nameOf(chat)}
      </h1>
      {!store.connected.value && (
        <span class="offline" role="status" data-testid="offline">
          Connecting again…
        </span>
      )}
      <span class="spacer" />
      <WaitingBadge store={store} />
      {chat && isDraft && <PaneCount store={store} count={chat.panes.length} />}
      {chat && (
        <button
          type="button"
          class="quiet"
          data-testid="policies"
          onClick={() => {
            setPolicies(true);
          }}
        >
          <Icon name="shield" />
          <span class="wide-only">Tools</span>
          {chat.network && (
            <span class="network-on" title="Commands may reach public addresses">
              <Icon name="globe" />
              <span class="visually-hidden">network on</span>
            </span>
          )}
        </button>
      )}
      <button
        type="button"
        class="quiet"
        aria-label={dark ? "Light theme" : "Dark theme"}
        title={dark ? "Light theme" : "Dark theme"}
        data-testid="theme"
        onClick={toggleTheme}
      >
        <Icon name={dark ? "sun" : "moon"} />
      </button>
      {policies && chat && (
        <PoliciesDialog
          store={store}
          chat={chat}
          onClose={() => {
            setPolicies(false);
          }}
        />
      )}
    </header>
  );
}

/** How many calls wait for a person; a press goes to the first of them. */
function WaitingBadge({ store }: { store: Store }) {
  const waiting = store.waiting.value;
  const first = waiting[0];
  if (!first) return null;
  const go = () => {
    const here = store.feed.value?.chatId;
    const next = waiting.find((approval) => approval.chat_id === here) ?? first;
    if (next.chat_id !== here) {
      store.open(next.chat_id);
      return;
    }
    const card = document.getElementById(`approval-${next.approval_id}`);
    card?.dispatchEvent(new CustomEvent("switchbox-show", { bubbles: true }));
    card?.scrollIntoView({ block: "start" });
    card?.focus();
  };
  return (
    <button type="button" class="waiting-badge" data-testid="approvals-badge" onClick={go}>
      <Icon name="alert" />
      {waiting.length}
      <span class="wide-only">{waiting.length === 1 ? "call waits for you" : "calls wait for you"}</span>
    </button>
  );
}

function PaneCount({ store, count }: { store: Store; count: number }) {
  return (
    <div class="segmented" role="group" aria-label="Number of panes">
      {Array.from({ length: MAX_PANES }, (_, index) => index + 1).map((number) => (
        <button
          key={number}
          type="button"
          aria-pressed={number === count}
          aria-label={number === 1 ? "1 pane" : `${number} panes`}
          data-testid={`pane-count-${number}`}
          onClick={() => void store.setPaneCount(number)}
        >
          {number}
        </button>
      ))}
    </div>
  );
}
