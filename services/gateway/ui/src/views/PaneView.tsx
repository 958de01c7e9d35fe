/** One pane: which model with which instructions, and its side of the conversation. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Approval, Pane } from "../api/types.gen";
import type { Store } from "../app/store";
import { attemptsOf, isActive, isPending, type ChatState, type ReplyView } from "../chat/types";
import { Icon } from "./icons";
import { PaneSettingsDialog } from "./PaneSettingsDialog";
import { ReplyGroup } from "./ReplyGroup";
import { useFollowEnd } from "./useFollowEnd";

interface Props {
  readonly store: Store;
  readonly chat: ChatState;
  readonly pane: Pane;
  /** On a narrow screen only one pane is. */
  readonly shown: boolean;
  readonly onShow: () => void;
}

export function PaneView({ store, chat, pane, shown, onShow }: Props) {
  const [settings, setSettings] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const turns = chat.exchanges
    .map((exchange) => ({ exchange, attempts: attemptsOf(chat, exchange, pane.pane_id) }))
    .filter(({ attempts }) => attempts.length > 0);
  const active = turns.flatMap(({ attempts }) => attempts).find(({ status }) => isActive(status));
  const name = `Pane ${pane.position + 1}, ${modelName(store, pane)}`;
  useFollowEnd(scroller, turns.at(-1)?.attempts.at(-1)?.reply_id, pendingIn(chat, active)?.approval_id);

  useEffect(() => {
    const element = scroller.current;
    element?.addEventListener("switchbox-show", onShow);
    return () => {
      element?.removeEventListener("switchbox-show", onShow);
    };
  }, [onShow]);

  return (
    <section
      id={`pane-${pane.position}`}
      class={`pane accent-${pane.position}${shown ? " shown" : ""}`}
      aria-label={name}
      data-testid={`pane-${pane.position}`}
      data-busy={active ? "true" : "false"}
    >
      <header class="pane-head">
        <span class={active ? "dot busy" : "dot"} />
        <div class="pane-name">
          <span class="pane-model">{modelName(store, pane)}</span>
          <span class="pane-prompt" title={pane.system_prompt}>
            {pane.system_prompt || "No instructions"}
          </span>
        </div>
        {active && (
          <button
            type="button"
            class="stop"
            data-testid="stop"
            aria-label={`Stop pane ${pane.position + 1}`}
            onClick={() => void store.stopReply(active.reply_id)}
          >
            <Icon name="stop" />
            Stop
          </button>
        )}
        <button
          type="button"
          class="quiet"
          aria-label={`Settings of pane ${pane.position + 1}`}
          title="Settings of this pane"
          data-testid="pane-settings"
          onClick={() => {
            setSettings(true);
          }}
        >
          <Icon name="sliders" />
        </button>
      </header>
      <div class="pane-scroll" ref={scroller} role="log" aria-live="polite" aria-busy={active !== undefined} tabIndex={0}>
        {turns.length === 0 && <EmptyPane pane={pane} />}
        {turns.map(({ exchange, attempts }, index) => (
          <ReplyGroup
            key={exchange.exchangeId}
            store={store}
            pane={pane}
            question={exchange.text}
            attempts={attempts}
            last={index === turns.length - 1}
            approvals={chat.approvals}
          />
        ))}
      </div>
      {settings && (
        <PaneSettingsDialog
          store={store}
          pane={pane}
          onClose={() => {
            setSettings(false);
          }}
        />
      )}
    </section>
  );
}

/** The name a person knows the pane's model by. */
export function modelName(store: Store, { model }: Pick<Pane, "model">): string {
  const known = store.models.value.models.find(
    (candidate) => candidate.provider_id === model.provider_id && candidate.model === model.model,
  );
  return known ? known.label : model.model;
}

function EmptyPane({ pane }: { pane: Pane }) {
  return (
    <div class="pane-empty">
      <p class="pane-empty-prompt">{pane.system_prompt || "This pane has no instructions of its own."}</p>
      <p class="pane-empty-facts">
        {pane.temperature === null ? "The model’s own temperature" : `Temperature ${pane.temperature}`}
        {" · "}
        {pane.tools ? "tools on" : "tools off"}
      </p>
    </div>
  );
}

/** The approval that a reply waits for. */
function pendingIn(chat: ChatState, reply: ReplyView | undefined): Approval | undefined {
  if (reply?.status !== "waiting") return undefined;
  return [...chat.approvals.values()].find(
    (approval) => approval.reply_id === reply.reply_id && isPending(approval, Date.now()),
  );
}
