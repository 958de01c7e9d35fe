/** What tools may do in this chat: Auto, Ask or Off for each, and the network. */
import type { Store } from "../app/store";
import type { ToolInfo } from "../api/types.gen";
import type { ChatState } from "../chat/types";
import { Dialog } from "./Dialog";

const POLICIES = ["auto", "ask", "off"] as const;
const NAMES = { auto: "Auto", ask: "Ask", off: "Off" } as const;

export function PoliciesDialog({ store, chat, onClose }: { store: Store; chat: ChatState; onClose: () => void }) {
  return (
    <Dialog title="Tools of this chat" onClose={onClose} testId="policies-dialog">
      <p class="muted">
        Auto runs a call at once. Ask shows it to you first. Off takes the tool away. This holds for all panes of this chat
        and for no other.
      </p>
      <div class="policy-rows">
        {store.tools.value.map((tool) => (
          <PolicyRow key={tool.name} store={store} chat={chat} tool={tool} />
        ))}
      </div>
      <label class="switch-row">
        <span>
          <strong>Network</strong>
          <span class="muted">Commands may reach public addresses through the filter. Everything they asked for is listed.</span>
        </span>
        <input
          type="checkbox"
          role="switch"
          checked={chat.network}
          data-testid="network-switch"
          onChange={(event) => void store.change({ network: event.currentTarget.checked })}
        />
      </label>
    </Dialog>
  );
}

function PolicyRow({ store, chat, tool }: { store: Store; chat: ChatState; tool: ToolInfo }) {
  const current = chat.policies[tool.name] ?? tool.default_policy;
  return (
    <div class="policy-row">
      <div>
        <code>{tool.name}</code>
        <p class="muted">{tool.description}</p>
      </div>
      <div class="segmented" role="group" aria-label={`Policy of ${tool.name}`}>
        {POLICIES.map((policy) => (
          <button
            key={policy}
            type="button"
            class={`policy-${policy}`}
            aria-pressed={policy === current}
            data-testid={`policy-${tool.name}-${policy}`}
            onClick={() => void store.change({ policies: { ...chat.policies, [tool.name]: policy } })}
          >
            {NAMES[policy]}
          </button>
        ))}
      </div>
    </div>
  );
}
