// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import { forgetSession, readStored, session, sessionEnded, startSession, takeLoginCode } from "./session";

const FUTURE = 8_000_000_000_000;
const KEY = "switchbox.session";
const answer = (status: number, body: unknown) => Promise.resolve(new Response(JSON.stringify(body), { status }));

describe("takeLoginCode", () => {
  const take = (hash: string) => {
    const replaced: unknown[] = [];
    const history = { replaceState: (_: unknown, __: string, url: string) => replaced.push(url) };
    const code = takeLoginCode({ hash, pathname: "/", search: "?a=1" }, history as unknown as History);
    return { code, replaced };
  };

  test("takes the code and clears the address", () => {
    expect(take("#login=abc_-9")).toEqual({ code: "abc_-9", replaced: ["/?a=1"] });
  });

  test("clears a code that cannot be one, and says that there was one", () => {
    expect(take("#login=<x>")).toEqual({ code: "", replaced: ["/?a=1"] });
  });

  test("leaves other addresses alone", () => {
    expect(take("#chat=x")).toEqual({ code: null, replaced: [] });
  });
});

describe("readStored", () => {
  test.each([
    ["a session", '{"token":"t","expires_at":10}', 9, { token: "t", expires_at: 10 }],
    ["one that is over", '{"token":"t","expires_at":10}', 10, null],
    ["no token", '{"token":"","expires_at":10}', 0, null],
    ["no end", '{"token":"t"}', 0, null],
    ["something else", '"ask"', 0, null],
    ["no JSON", "{", 0, null],
    ["nothing", null, 0, null],
  ])("%s", (_, text, now, expected) => {
    expect(readStored(text, now)).toEqual(expected);
  });
});

describe("a tab", () => {
  const asked: string[] = [];

  beforeEach(() => {
    asked.length = 0;
    sessionStorage.clear();
    session.value = { phase: "starting" };
  });

  afterEach(() => {
    vi.unstubAllGlobals();
  });

  function serve(status: number, body: unknown): void {
    vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
      asked.push(`${init.method ?? "GET"} ${path} ${typeof init.body === "string" ? init.body : ""}`);
      return answer(status, body);
    });
  }

  test("exchanges the code of its link and keeps the session for itself", async () => {
    serve(200, { token: "t", expires_at: FUTURE });
    await startSession("code");
    expect(asked).toEqual(['POST /api/session {"code":"code"}']);
    expect(session.value).toEqual({ phase: "open", token: "t" });
    expect(readStored(sessionStorage.getItem(KEY), 0)?.token).toBe("t");
  });

  test("says why a link was not taken", async () => {
    serve(401, { code: "login.code", detail: "Used already.", hint: "Ask for another." });
    await startSession("code");
    expect(session.value).toMatchObject({ phase: "none", error: { code: "login.code", message: "Used already." } });
    expect(sessionStorage.getItem(KEY)).toBeNull();
  });

  test("with a session goes on and leaves the code of a link alone", async () => {
    serve(200, {});
    sessionStorage.setItem(KEY, JSON.stringify({ token: "kept", expires_at: FUTURE }));
    await startSession("code");
    expect(session.value).toEqual({ phase: "open", token: "kept" });
    expect(asked).toEqual([]);
  });

  test("uses the code of its link when its own session turns out to be over", async () => {
    serve(200, { token: "fresh", expires_at: FUTURE });
    sessionStorage.setItem(KEY, JSON.stringify({ token: "stale", expires_at: FUTURE }));
    await startSession("code");
    sessionEnded(new ApiError(401, { code: "session.expired", detail: "", hint: "" }));
    await vi.waitFor(() => {
      expect(session.value).toEqual({ phase: "open", token: "fresh" });
    });
  });

  test("without a session or a link gets that of a neighbour", async () => {
    const neighbour = new BroadcastChannel("switchbox-session");
    neighbour.addEventListener("message", (message: MessageEvent<unknown>) => {
      if (message.data === "ask") neighbour.postMessage(JSON.stringify({ token: "theirs", expires_at: FUTURE }));
    });
    await startSession(null);
    neighbour.close();
    expect(session.value).toEqual({ phase: "open", token: "theirs" });
  });

  test("asks for a link when nobody answers", async () => {
    await startSession(null);
    expect(session.value).toEqual({ phase: "none", error: null });
  });

  test("forgets its session when the person signs out", async () => {
    sessionStorage.setItem(KEY, JSON.stringify({ token: "kept", expires_at: FUTURE }));
    await startSession("unused");
    forgetSession();
    expect(session.value).toEqual({ phase: "none", error: null });
    expect(sessionStorage.getItem(KEY)).toBeNull();
  });
});
