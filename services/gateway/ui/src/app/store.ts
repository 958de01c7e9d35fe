/** What the page knows and what a person can do: signals for the first, methods for the second. */
import { computed, signal } from "@preact/signals";
import { ApiError, type Client } from "../api/client";
import type { Approval, Chat, ChatChange, ChatSummary, Event, Models, PaneSettings, ToolInfo, Verdict } from "../api/types.gen";
import { forgetSession } from "../session/session";
import { ChatFeed } from "../chat/feed";
import { isActive, isPending, type ChatState } from "../chat/types";
import { DRAFT_ID, draftChat, firstModel, MAX_PANES, newChat, paneSettings, settingsOf } from "./draft";
import { Notices } from "./notices";

const MODELS_PAUSE_MS = 3_000;

export class Store {
  readonly chats = signal<readonly ChatSummary[]>([]);
  readonly models = signal<Models>({ models: [], problems: [] });
  readonly tools = signal<readonly ToolInfo[]>([]);
  /** Approvals that wait anywhere; those of the open chat are also in its state. */
  readonly waiting = signal<readonly Approval[]>([]);
  readonly draft = signal<ChatState | null>(null);
  readonly feed = signal<ChatFeed | null>(null);
  readonly notices = new Notices();

  /** The chat on the screen: an open one, or the draft. Null while it loads. */
  readonly chat = computed<ChatState | null>(() => {
    const feed = this.feed.value;
    return feed ? feed.state.value : this.draft.value;
  });
  readonly connected = computed(() => this.feed.value?.connected.value ?? true);

  private closed = false;

  constructor(private readonly client: Client) {}

  /** Loads what every screen needs, then opens `chatId` or a draft. */
  async start(chatId: string | null): Promise<void> {
    if (chatId !== null) this.open(chatId);
    await Promise.all([this.loadModels(), this.loadTools(), this.loadChats(), this.loadWaiting()]);
    if (!this.feed.value) this.newChat();
  }

  close(): void {
    this.closed = true;
    this.feed.value?.close();
  }

  // --- chats ---

  open(chatId: string, chat?: Chat): void {
    if (this.feed.value?.chatId === chatId) return;
    this.feed.value?.close();
    const feed = new ChatFeed(this.client, chatId, {
      onEvent: (event) => {
        this.hear(event);
      },
      onGone: () => {
        if (this.feed.value === feed) this.newChat();
        void this.loadChats();
      },
      onError: (error) => {
        this.notices.error(error);
        if (this.feed.value === feed && !feed.state.value) this.newChat();
      },
    });
    this.feed.value = feed;
    feed.start(chat);
  }

  /** Shows a draft with the panes of the chat that is open, or the first four. */
  newChat(): void {
    const open = this.chat.value?.panes.map(settingsOf) ?? [];
    const panes = open.length > 0 ? open : this.firstPanes();
    this.feed.value?.close();
    this.feed.value = null;
    this.draft.value = draftChat(panes, this.defaultPolicies());
  }

  async renameChat(chatId: string, title: string): Promise<void> {
    await this.try(async () => {
      await this.client.changeChat(chatId, { title });
      await this.loadChats();
    });
  }

  async deleteChat(chatId: string): Promise<void> {
    await this.try(async () => {
      await this.client.deleteChat(chatId);
      if (this.feed.value?.chatId === chatId) this.newChat();
      await this.loadChats();
    });
  }

  // --- the open chat or the draft ---

  /** Sends to the panes at these positions; true when the message was taken. */
  async send(text: string, positions: readonly number[]): Promise<boolean> {
    return this.try(async () => {
      const feed = this.feed.value ?? (await this.create());
      const panes = feed.state.value?.panes ?? [];
      const targets = panes.filter(({ position }) => positions.includes(position)).map(({ pane_id }) => pane_id);
      const all = targets.length === panes.length;
      const exchange = await this.client.sendMessage(feed.chatId, all ? { text } : { text, pane_ids: targets });
      feed.apply([{ kind: "exchange_added", chat_id: feed.chatId, exchange }]);
      void this.loadChats();
    });
  }

  async change(change: Pick<ChatChange, "policies" | "network" | "title">): Promise<boolean> {
    const draft = this.draft.value;
    if (!this.feed.value && draft) {
      this.draft.value = {
        ...draft,
        policies: change.policies ?? draft.policies,
        network: change.network ?? draft.network,
      };
      return true;
    }
    return this.changeOpen(change);
  }

  async changePane(position: number, settings: PaneSettings): Promise<boolean> {
    return this.changePanes((panes) => panes.with(position, settings));
  }

  /** Makes it `count` panes: new ones begin as the draft's do, those beyond the count go. */
  async setPaneCount(count: number): Promise<boolean> {
    const fresh = this.firstPanes();
    return this.changePanes((panes) => [...panes.slice(0, count), ...fresh.slice(panes.length, count)]);
  }

  async stopReply(replyId: string): Promise<void> {
    await this.changeReply(() => this.client.stopReply(replyId));
  }

  async retryReply(replyId: string): Promise<void> {
    await this.changeReply(() => this.client.retryReply(replyId));
  }

  async continueReply(replyId: string): Promise<void> {
    await this.changeReply(() => this.client.continueReply(replyId));
  }

  /** Stops whatever still answers in the open chat. */
  async stopAll(): Promise<void> {
    const chat = this.chat.value;
    if (!chat || ![...chat.replies.values()].some(({ status }) => isActive(status))) return;
    await this.try(() => this.client.stopChat(chat.chat_id));
  }

  /** Answers an approval for exactly the call that was shown. */
  async decide(approval: Approval, decision: Verdict["decision"]): Promise<void> {
    await this.try(async () => {
      const decided = await this.client.decide(approval.approval_id, { decision, call_hash: approval.call_hash });
      this.feed.value?.apply([{ kind: "approval_changed", chat_id: decided.chat_id, approval: decided }]);
    });
    await this.loadWaiting();
  }

  // --- what is loaded beside the chat ---

  /** Asks again for as long as there is none: the embedded model takes a moment to start. */
  loadModels = async (): Promise<void> => {
    await this.try(async () => {
      this.models.value = await this.client.listModels();
    });
    if (this.models.value.models.length === 0 && !this.closed) setTimeout(() => void this.loadModels(), MODELS_PAUSE_MS);
    else if (this.draft.value?.panes.length === 0) this.newChat();
  };

  loadChats = (): Promise<boolean> =>
    this.try(async () => {
      this.chats.value = (await this.client.listChats()).chats;
    });

  loadWaiting = (): Promise<boolean> =>
    this.try(async () => {
      const { approvals } = await this.client.listApprovals();
      this.waiting.value = approvals.filter((approval) => isPending(approval, Date.now()));
    });

  async signOut(): Promise<void> {
    await this.try(async () => {
      await this.client.endSession();
      forgetSession();
    });
  }

  private loadTools = (): Promise<boolean> =>
    this.try(async () => {
      this.tools.value = (await this.client.listTools()).tools;
    });

  private hear(event: Event): void {
    if (event.kind === "approval_changed") void this.loadWaiting();
    if (event.kind === "chat_changed") void this.loadChats();
  }

  /** Creates the chat that the draft describes and opens it. */
  private async create(): Promise<ChatFeed> {
    const draft = this.draft.value;
    if (!draft || draft.panes.length === 0) throw noModel();
    let chat = await this.client.createChat(newChat(draft));
    const policies = changedPolicies(draft.policies, chat.policies);
    if (Object.keys(policies).length > 0 || draft.network !== chat.network) {
      chat = await this.client.changeChat(chat.chat_id, {
        policies: { ...chat.policies, ...policies },
        network: draft.network,
      });
    }
    this.open(chat.chat_id, chat);
    if (!this.feed.value) throw noModel();
    return this.feed.value;
  }

  private async changePanes(change: (panes: PaneSettings[]) => PaneSettings[]): Promise<boolean> {
    const chat = this.chat.value;
    if (!chat) return false;
    const panes = change(chat.panes.map(settingsOf));
    if (chat.chat_id !== DRAFT_ID) return this.changeOpen({ panes });
    this.draft.value = { ...draftChat(panes, chat.policies), network: chat.network };
    return true;
  }

  private async changeOpen(change: ChatChange): Promise<boolean> {
    const feed = this.feed.value;
    if (!feed) return false;
    return this.try(async () => {
      feed.adopt(await this.client.changeChat(feed.chatId, change));
    });
  }

  private async changeReply(ask: () => ReturnType<Client["stopReply"]>): Promise<void> {
    const feed = this.feed.value;
    if (!feed) return;
    await this.try(async () => {
      const reply = await ask();
      // A reply that is known is told by the stream, which may already be further than this answer.
      if (feed.state.value?.replies.has(reply.reply_id)) return;
      feed.apply([{ kind: "reply_changed", chat_id: feed.chatId, reply }]);
    });
  }

  private firstPanes(): PaneSettings[] {
    const model = firstModel(this.models.value.models);
    return model ? Array.from({ length: MAX_PANES }, (_, index) => paneSettings(model, index)) : [];
  }

  private defaultPolicies(): ChatState["policies"] {
    return Object.fromEntries(this.tools.value.map((tool) => [tool.name, tool.default_policy]));
  }

  private async try(action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      this.notices.error(error);
      return false;
    }
  }
}

function changedPolicies(wanted: ChatState["policies"], present: ChatState["policies"]): ChatState["policies"] {
  return Object.fromEntries(Object.entries(wanted).filter(([tool, policy]) => present[tool] !== policy));
}

function noModel(): ApiError {
  return new ApiError(0, {
    code: "model.unreachable",
    detail: "There is no model to ask.",
    hint: "The embedded model may still be starting: wait a moment and try again.",
  });
}
