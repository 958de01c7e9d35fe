import { describe, expect, test } from "vitest";
import { openChat } from "../chat/apply";
import { EMPTY_OUTPUT } from "../chat/output";
import { sampleCall, sampleChat, sampleExchange, sampleReply } from "../chat/samples";
import { seconds, statusFacts } from "../views/replyStatus";
import { targetsOf } from "../views/Composer";
import { draftChat, firstModel, newChat, paneSettings } from "./draft";
import { chatInHash, hashOfChat } from "./route";

const embedded = { provider_id: "embedded", model: "small", tool_calls: "constrained", embedded: true } as const;
const other = { provider_id: "host", model: "big", tool_calls: "native", embedded: false } as const;
const names = { provider_name: "", label: "" };

describe("a draft", () => {
  test("begins with the embedded model, else with the first", () => {
    expect(firstModel([{ ...other, ...names }, { ...embedded, ...names }])?.model).toBe("small");
    expect(firstModel([{ ...other, ...names }])?.model).toBe("big");
    expect(firstModel([])).toBeNull();
  });

  test("gives four panes of one model four different voices", () => {
    const panes = [0, 1, 2, 3].map((index) => paneSettings(embedded, index));
    expect(new Set(panes.map(({ system_prompt: prompt }) => prompt)).size).toBe(4);
    expect(new Set(panes.map(({ temperature }) => temperature)).size).toBe(4);
  });

  test("has tools on where the model calls them by itself", () => {
    expect(paneSettings(other, 0).tools).toBe(true);
    expect(paneSettings(embedded, 0).tools).toBe(false);
  });

  test("asks for exactly the panes it shows", () => {
    const panes = [paneSettings(embedded, 0), paneSettings(other, 1)];
    expect(newChat(draftChat(panes, {}))).toEqual({ panes });
  });
});

describe("targetsOf", () => {
  const idle = openChat(sampleChat([sampleExchange("x", [sampleReply("r", { status: "complete" })])]));
  const busy = openChat(sampleChat([sampleExchange("x", [sampleReply("r")])]));

  test.each([
    ["all panes", idle, [], [0, 1]],
    ["those not left out", idle, [1], [0]],
    ["those not still answering", busy, [], [1]],
    ["none", busy, [1], []],
  ])("sends to %s", (_, chat, left, targets) => {
    expect(targetsOf(chat, new Set(left))).toEqual(targets);
  });
});

describe("statusFacts", () => {
  const none = { input_tokens: null, output_tokens: null };

  test("says what is known", () => {
    const timings = { started_at: 1_000, first_token_at: 1_250, ended_at: 3_250 };
    expect(statusFacts({ usage: { input_tokens: 9, output_tokens: 50 }, timings, parts: [] })).toEqual([
      "50 tokens",
      "25.0 tokens/s",
      "0.25 s to the first",
    ]);
  });

  test("never guesses what is not", () => {
    expect(statusFacts({ usage: none, timings: { started_at: 1, first_token_at: null, ended_at: 9 }, parts: [] })).toEqual([]);
    expect(statusFacts({ usage: none, timings: { started_at: 0, first_token_at: 500, ended_at: 900 }, parts: [] })).toEqual([
      "0.50 s to the first",
    ]);
    const atOnce = { started_at: null, first_token_at: 5, ended_at: 5 };
    expect(statusFacts({ usage: { ...none, output_tokens: 1 }, timings: atOnce, parts: [] })).toEqual(["1 token"]);
  });

  test("gives no speed where the model waited for its calls", () => {
    const timings = { started_at: 0, first_token_at: 0, ended_at: 1_000 };
    const parts = [{ kind: "call", call: sampleCall(), output: EMPTY_OUTPUT }] as const;
    expect(statusFacts({ usage: { ...none, output_tokens: 5 }, timings, parts })).toEqual(["5 tokens", "0.00 s to the first"]);
  });

  test.each([
    [250, "0.25 s"],
    [12_900, "12 s"],
    [125_000, "2 min 5 s"],
  ])("%d ms are %s", (milliseconds, text) => {
    expect(seconds(milliseconds)).toBe(text);
  });
});

describe("the address", () => {
  test("names the open chat", () => {
    const id = "0123456789abcdef".repeat(2);
    expect(chatInHash(hashOfChat(id))).toBe(id);
    expect(hashOfChat("")).toBe("");
  });

  test.each([[""], ["#chat="], ["#chat=ABC"], ["#login=0123456789abcdef0123456789abcdef"]])("%j names none", (hash) => {
    expect(chatInHash(hash)).toBeNull();
  });
});
