/** The HTTP side of the API: one function per operation, each answer parsed before it is handed on. */
import * as v from "valibot";
import * as schemas from "./schemas";
import type * as api from "./types.gen";

export const SESSION_HEADER = "X-Switchbox-Session";

type Method = "GET" | "POST" | "PATCH" | "DELETE";
type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>;

/** The server's no, or the reason why there was no answer: a stable code, a sentence, and what would help. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;

  constructor(status: number, body: Pick<api.ErrorBody, "code" | "detail" | "hint">) {
    super(body.detail);
    this.name = "ApiError";
    this.status = status;
    this.code = body.code;
    this.hint = body.hint;
  }

  get endsSession(): boolean {
    return this.status === 401;
  }
}

/** Turns an answer with an error status into the error it means, whatever its body is. */
export async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const parsed = v.safeParse(schemas.errorBody, body);
  if (parsed.success) return new ApiError(response.status, parsed.output);
  return new ApiError(response.status, {
    code: "internal.error",
    detail: `The server answered ${response.status} and did not say why.`,
    hint: "Try again; `docker compose logs gateway` says more.",
  });
}

export const unreachable = (): ApiError =>
  new ApiError(0, {
    code: "core.unavailable",
    detail: "Switchbox cannot be reached.",
    hint: "Is it running? `make up` starts it.",
  });

/** Sends requests with the session's token. `onSessionEnd` is told when the server no longer takes it. */
export class Client {
  constructor(
    readonly token: string,
    private readonly onSessionEnd: (error: ApiError) => void = () => undefined,
  ) {}

  listModels = (): Promise<api.Models> => this.send("GET", "/api/models", schemas.models);
  listTools = (): Promise<api.Tools> => this.send("GET", "/api/tools", schemas.tools);
  listChats = (): Promise<api.Chats> => this.send("GET", "/api/chats", schemas.chats);
  listApprovals = (): Promise<api.Approvals> => this.send("GET", "/api/approvals", schemas.approvals);
  createChat = (chat: api.NewChat): Promise<api.Chat> => this.send("POST", "/api/chats", schemas.chat, chat);
  getChat = (id: string): Promise<api.Chat> => this.send("GET", `/api/chats/${id}`, schemas.chat);
  changeChat = (id: string, change: api.ChatChange): Promise<api.Chat> =>
    this.send("PATCH", `/api/chats/${id}`, schemas.chat, change);
  deleteChat = (id: string): Promise<unknown> => this.send("DELETE", `/api/chats/${id}`, schemas.empty);
  sendMessage = (id: string, message: api.NewMessage): Promise<api.Exchange> =>
    this.send("POST", `/api/chats/${id}/messages`, schemas.exchange, message);
  stopChat = (id: string): Promise<unknown> => this.send("POST", `/api/chats/${id}/stop`, schemas.empty, {});
  stopReply = (id: string): Promise<api.Reply> => this.send("POST", `/api/replies/${id}/stop`, schemas.reply, {});
  retryReply = (id: string): Promise<api.Reply> => this.send("POST", `/api/replies/${id}/retry`, schemas.reply, {});
  continueReply = (id: string): Promise<api.Reply> =>
    this.send("POST", `/api/replies/${id}/continue`, schemas.reply, {});
  decide = (id: string, verdict: api.Verdict): Promise<api.Approval> =>
    this.send("POST", `/api/approvals/${id}`, schemas.approval, verdict);
  endSession = async (): Promise<void> => {
    await this.request("DELETE", "/api/session");
  };

  /** Opens the event stream; the caller reads its body. */
  async events(chatId: string, after: number, signal: AbortSignal): Promise<Response> {
    const query = new URLSearchParams({ chat: chatId, after: String(after) });
    const response = await fetch(`/api/events?${query}`, {
      headers: { [SESSION_HEADER]: this.token, Accept: "text/event-stream" },
      cache: "no-store",
      signal,
    });
    if (!response.ok) throw await this.failure(response);
    return response;
  }

  private async request(method: Method, path: string, body?: unknown): Promise<Response> {
    const headers: Record<string, string> = { [SESSION_HEADER]: this.token };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const init: RequestInit = { method, headers, cache: "no-store" };
    if (body !== undefined) init.body = JSON.stringify(body);
    const response = await fetch(path, init).catch(() => {
      throw unreachable();
    });
    if (!response.ok) throw await this.failure(response);
    return response;
  }

  private async send<S extends AnySchema>(
    method: Method,
    path: string,
    schema: S,
    body?: unknown,
  ): Promise<v.InferOutput<S>> {
    const response = await this.request(method, path, body);
    return parseAnswer(schema, await response.json().catch(() => null));
  }

  private async failure(response: Response): Promise<ApiError> {
    const error = await errorOf(response);
    if (error.endsSession) this.onSessionEnd(error);
    return error;
  }
}

/** Exchanges the code of a login link for a session. */
export async function logIn(code: string): Promise<api.Session> {
  const response = await fetch("/api/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    cache: "no-store",
    body: JSON.stringify({ code } satisfies api.LoginCode),
  }).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw await errorOf(response);
  return parseAnswer(schemas.session, await response.json().catch(() => null));
}

function parseAnswer<S extends AnySchema>(schema: S, answer: unknown): v.InferOutput<S> {
  const parsed = v.safeParse(schema, answer);
  if (parsed.success) return parsed.output;
  throw new ApiError(200, {
    code: "internal.error",
    detail: "The server's answer was not in the form this page expects.",
    hint: "Reload the page; it may be older than the server.",
  });
}
