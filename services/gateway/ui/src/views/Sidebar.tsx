/** The history: begin, open, rename and delete chats. */
import { useState } from "preact/hooks";
import type { Store } from "../app/store";
import type { ChatSummary } from "../api/types.gen";
import { Dialog } from "./Dialog";
import { Icon } from "./icons";
import { Logo } from "./Logo";

type Asking = { readonly what: "rename" | "delete"; readonly chat: ChatSummary } | null;

export function Sidebar({ store, onClose }: { store: Store; onClose: () => void }) {
  const [asking, setAsking] = useState<Asking>(null);
  const current = store.feed.value?.chatId;
  const done = () => {
    setAsking(null);
  };
  return (
    <aside class="sidebar" aria-label="Chats">
      <div class="brand">
        <Logo />
        <span>Switchbox</span>
      </div>
      <button
        type="button"
        class="new-chat"
        data-testid="new-chat"
        onClick={() => {
          store.newChat();
          onClose();
        }}
      >
        <Icon name="plus" />
        New chat
      </button>
      <nav aria-label="History">
        <ul class="chat-list" data-testid="chat-list">
          {store.chats.value.map((chat) => (
            <li key={chat.chat_id} class={chat.chat_id === current ? "chat-item current" : "chat-item"}>
              <button
                type="button"
                class="chat-open"
                aria-current={chat.chat_id === current ? "page" : undefined}
                data-testid="chat-item"
                title={nameOf(chat)}
                onClick={() => {
                  store.open(chat.chat_id);
                  onClose();
                }}
              >
                {nameOf(chat)}
              </button>
              <span class="chat-tools">
                <button
                  type="button"
                  class="quiet small"
                  aria-label={`Rename ${nameOf(chat)}`}
                  data-testid="chat-rename"
                  onClick={() => {
                    setAsking({ what: "rename", chat });
                  }}
                >
                  <Icon name="pencil" />
                </button>
                <button
                  type="button"
                  class="quiet small"
                  aria-label={`Delete ${nameOf(chat)}`}
                  data-testid="chat-delete"
                  onClick={() => {
                    setAsking({ what: "delete", chat });
                  }}
                >
                  <Icon name="trash" />
                </button>
              </span>
            </li>
          ))}
        </ul>
      </nav>
      <button type="button" class="quiet sign-out" data-testid="sign-out" onClick={() => void store.signOut()}>
        <Icon name="exit" />
        Sign out
      </button>
      {asking?.what === "rename" && <RenameDialog store={store} chat={asking.chat} onDone={done} />}
      {asking?.what === "delete" && <DeleteDialog store={store} chat={asking.chat} onDone={done} />}
    </aside>
  );
}

export function nameOf(chat: Pick<ChatSummary, "title">): string {
  return chat.title || "Untitled chat";
}

interface AskingProps {
  readonly store: Store;
  readonly chat: ChatSummary;
  readonly onDone: () => void;
}

function RenameDialog({ store, chat, onDone }: AskingProps) {
  const [title, setTitle] = useState(chat.title);
  const save = (event: Event) => {
    event.preventDefault();
    void store.renameChat(chat.chat_id, title.trim());
    onDone();
  };
  return (
    <Dialog title="Rename the chat" onClose={onDone}>
      <form onSubmit={save}>
        <label class="field">
          Name
          <input
            value={title}
            maxLength={200}
            data-testid="rename-title"
            onInput={(event) => {
              setTitle(event.currentTarget.value);
            }}
          />
        </label>
        <div class="dialog-actions">
          <button type="submit" class="primary" disabled={title.trim() === ""} data-testid="rename-save">
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function DeleteDialog({ store, chat, onDone }: AskingProps) {
  return (
    <Dialog title="Delete this chat?" onClose={onDone}>
      <p>
        “{nameOf(chat)}” goes with all its replies and the files in its workspace. This cannot be undone.
      </p>
      <div class="dialog-actions">
        <button type="button" onClick={onDone}>
          Keep it
        </button>
        <button
          type="button"
          class="danger"
          data-testid="delete-confirm"
          onClick={() => {
            void store.deleteChat(chat.chat_id);
            onDone();
          }}
        >
          Delete
        </button>
      </div>
    </Dialog>
  );
}
