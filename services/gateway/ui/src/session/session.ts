/**
 * How a tab gets its session, and keeps it.
 *
 * The token lives in sessionStorage: a cookie would go to every port of 127.0.0.1. A new tab without one asks the other
 * tabs of this origin; a login link brings a code, which is taken out of the address before anything else happens.
 */
import { signal } from "@preact/signals";
import { ApiError, logIn } from "../api/client";
import type { Session } from "../api/types.gen";

const KEY = "switchbox.session";
const CHANNEL = "switchbox-session";
const NEIGHBOUR_WAIT_MS = 250;

export type SessionState =
  | { readonly phase: "starting" }
  | { readonly phase: "open"; readonly token: string }
  /** `error` is why a login link was not taken; null when there was none. */
  | { readonly phase: "none"; readonly error: ApiError | null };

export const session = signal<SessionState>({ phase: "starting" });

/** Takes the code of a login link out of the address bar; null when there is none. */
export function takeLoginCode(location: Pick<Location, "hash" | "pathname" | "search">, history: History): string | null {
  const match = /^#login=([\w-]{1,128})$/.exec(location.hash);
  if (!location.hash.startsWith("#login")) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return match?.[1] ?? "";
}

/** Finds the session of this tab: its own, then what the link brought, then a neighbour's. */
export async function startSession(code: string | null): Promise<void> {
  answerNeighbours();
  const stored = readStored(sessionStorage.getItem(KEY), Date.now());
  if (stored) {
    linkCode = code;
    session.value = { phase: "open", token: stored.token };
    return;
  }
  if (code !== null) {
    await exchangeCode(code);
    return;
  }
  const given = await askNeighbours();
  if (given) keep(given);
  else session.value = { phase: "none", error: null };
}

// A link was opened in a tab that has a session: its code is used only if that session turns out to be over.
let linkCode: string | null = null;

/** The server no longer takes the token. */
export function sessionEnded(error: ApiError | null): void {
  if (session.value.phase !== "open") return;
  sessionStorage.removeItem(KEY);
  const code = linkCode;
  linkCode = null;
  session.value = code === null ? { phase: "none", error } : { phase: "starting" };
  if (code !== null) void exchangeCode(code);
}

/** The person signed out. */
export function forgetSession(): void {
  linkCode = null;
  sessionEnded(null);
}

/** Takes over the session of another tab, where one answers. */
export async function takeOverSession(): Promise<boolean> {
  const given = await askNeighbours();
  if (given) keep(given);
  return given !== null;
}

async function exchangeCode(code: string): Promise<void> {
  try {
    keep(await logIn(code));
  } catch (error) {
    session.value = { phase: "none", error: error instanceof ApiError ? error : null };
  }
}

function keep(given: Session): void {
  sessionStorage.setItem(KEY, JSON.stringify(given));
  session.value = { phase: "open", token: given.token };
}

/** A session as stored or received; null when it is not one or is over. */
export function readStored(text: string | null, now: number): Session | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return null;
    if (!("token" in value) || typeof value.token !== "string" || value.token === "") return null;
    if (!("expires_at" in value) || typeof value.expires_at !== "number" || value.expires_at <= now) return null;
    return { token: value.token, expires_at: value.expires_at };
  } catch {
    return null;
  }
}

// Only pages of this origin (scheme, host and port) hear this channel, and they could read the server's answers anyway.
function answerNeighbours(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", (message: MessageEvent<unknown>) => {
    if (message.data !== "ask") return;
    const stored = sessionStorage.getItem(KEY);
    if (stored !== null && session.value.phase === "open") channel.postMessage(stored);
  });
}

function askNeighbours(): Promise<Session | null> {
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise((resolve) => {
    const finish = (found: Session | null) => {
      clearTimeout(timer);
      channel.close();
      resolve(found);
    };
    const timer = setTimeout(() => {
      finish(null);
    }, NEIGHBOUR_WAIT_MS);
    channel.addEventListener("message", (message: MessageEvent<unknown>) => {
      const found = typeof message.data === "string" ? readStored(message.data, Date.now()) : null;
      if (found) finish(found);
    });
    channel.postMessage("ask");
  });
}
