/** Where the question is written, and which panes get it. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Store } from "../app/store";
import { busyPanes, type ChatState } from "../chat/types";
import { Icon } from "./icons";

const MAX_HEIGHT_PX = 240;

export function Composer({ store }: { store: Store }) {
  const [text, setText] = useState("");
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  const [sending, setSending] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const chat = store.chat.value;
  const targets = chat ? targetsOf(chat, left) : [];
  const ready = text.trim() !== "" && targets.length > 0 && !sending;

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, MAX_HEIGHT_PX)}px`;
  }, [text]);

  const send = async () => {
    if (!ready) return;
    setSending(true);
    // What was typed comes back when the message was not taken.
    setText("");
    const taken = await store.send(text, targets);
    if (!taken) setText((typed) => (typed === "" ? text : typed));
    setSending(false);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="composer-box">
        <label class="visually-hidden" for="composer">
          Message
        </label>
        <textarea
          id="composer"
          ref={box}
          rows={1}
          value={text}
          placeholder={placeholder(chat)}
          data-testid="composer"
          onInput={(event) => {
            setText(event.currentTarget.value);
          }}
          onKeyDown={onKeyDown}
        />
        <div class="composer-foot">
          {chat && <Targets chat={chat} left={left} onChange={setLeft} />}
          <span class="spacer" />
          <span class="composer-keys wide-only">Enter sends · Shift+Enter makes a new line · Esc stops all</span>
          <button type="submit" class="send" disabled={!ready} data-testid="send" aria-label={sendLabel(chat, targets)}>
            {chat && chat.panes.length > 1 && targets.length < chat.panes.length && targets.length > 0 && (
              <span>to {targets.length}</span>
            )}
            <Icon name="send" />
          </button>
        </div>
      </div>
    </form>
  );
}

interface TargetsProps {
  readonly chat: ChatState;
  readonly left: ReadonlySet<number>;
  readonly onChange: (left: ReadonlySet<number>) => void;
}

function Targets({ chat, left, onChange }: TargetsProps) {
  if (chat.panes.length < 2) return null;
  const busy = busyPanes(chat);
  const toggle = (position: number) => {
    const next = new Set(left);
    if (!next.delete(position)) next.add(position);
    onChange(next);
  };
  return (
    <div class="targets" role="group" aria-label="Panes that get the message">
      {chat.panes.map(({ pane_id: paneId, position }) => {
        const isBusy = busy.has(paneId);
        return (
          <button
            key={position}
            type="button"
            class={`target accent-${position}`}
            aria-pressed={!left.has(position) && !isBusy}
            disabled={isBusy}
            title={isBusy ? `Pane ${position + 1} is still answering` : `Send to pane ${position + 1}`}
            aria-label={`Pane ${position + 1}`}
            data-testid={`target-${position}`}
            onClick={() => {
              toggle(position);
            }}
          >
            <span class={isBusy ? "dot busy" : "dot"} />
            {position + 1}
          </button>
        );
      })}
    </div>
  );
}

/** The positions of the panes that would get a message now: those not left out, and not still answering. */
export function targetsOf(chat: ChatState, left: ReadonlySet<number>): number[] {
  const busy = busyPanes(chat);
  return chat.panes.filter((pane) => !left.has(pane.position) && !busy.has(pane.pane_id)).map((pane) => pane.position);
}

function placeholder(chat: ChatState | null): string {
  const count = chat?.panes.length ?? 0;
  return count > 1 ? `Ask ${count} panes at once…` : "Ask…";
}

function sendLabel(chat: ChatState | null, targets: readonly number[]): string {
  if (!chat || targets.length === chat.panes.length) return "Send";
  if (targets.length === 0) return "Send: every pane is busy or left out";
  return `Send to pane ${targets.map((position) => position + 1).join(", ")}`;
}
