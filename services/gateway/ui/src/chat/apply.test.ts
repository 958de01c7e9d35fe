import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CallPart, Event, Reply } from "../api/types.gen";
import { applyEvents, openChat } from "./apply";
import { MAX_CHUNKS } from "./output";
import {
  CHAT_ID,
  delta,
  output,
  PANE_IDS,
  sampleApproval,
  sampleCall,
  sampleChat,
  sampleExchange,
  sampleReply,
} from "./samples";
import { attemptsOf, busyPanes, isPending, type ChatState, type PartView } from "./types";

const started = (): ChatState => openChat(sampleChat([sampleExchange("x", [sampleReply("r")])]));
const changed = (reply: Reply): Event => ({ kind: "reply_changed", chat_id: CHAT_ID, reply });
const called = (call: CallPart, part = 0): Event => ({ kind: "call_changed", chat_id: CHAT_ID, reply_id: "r", part, call });

function partsOf(state: ChatState, replyId = "r"): readonly PartView[] {
  return state.replies.get(replyId)?.parts ?? [];
}

function textOf(state: ChatState): string {
  return partsOf(state)
    .map((part) => (part.kind === "call" ? "" : part.text))
    .join("|");
}

describe("text deltas", () => {
  test("build the text, also behind characters outside the first plane", () => {
    const { state, reload } = applyEvents(started(), [delta("a🙂", 0), delta("b", 2), delta("🙂c", 3)]);
    expect(textOf(state)).toBe("a🙂b🙂c");
    expect(reload).toBe(false);
  });

  test("that come twice or overlap change nothing", () => {
    const { state } = applyEvents(started(), [delta("Hello", 0), delta("lo wor", 3), delta("Hello", 0), delta("world", 6)]);
    expect(textOf(state)).toBe("Hello world");
  });

  test("go on after a text that was loaded", () => {
    const reply = sampleReply("r", { parts: [{ kind: "text", text: "🙂🙂" }] });
    const { state } = applyEvents(openChat(sampleChat([sampleExchange("x", [reply])])), [delta("🙂!", 1)]);
    expect(textOf(state)).toBe("🙂🙂!");
  });

  test("any order of repeats gives the text as long as nothing is skipped", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(fc.tuple(fc.nat(30), fc.nat(8)), { maxLength: 60 }), (text, cuts) => {
        const points = Array.from(text);
        let state = started();
        let known = 0;
        for (const [back, length] of cuts) {
          const offset = Math.max(0, known - back);
          const piece = points.slice(offset, offset + length);
          const applied = applyEvents(state, [delta(piece.join(""), offset)]);
          expect(applied.reload).toBe(false);
          state = applied.state;
          known = Math.max(known, offset + piece.length);
        }
        expect(textOf(state)).toBe(points.slice(0, known).join(""));
      }),
    );
  });

  test.each<[string, Event[]]>([
    ["text before it is missing", [delta("late", 3)]],
    ["a part before it is missing", [delta("x", 0, 1)]],
    ["the reply is not known", [delta("x", 0, 0, "other")]],
    ["the part is a call", [called(sampleCall()), delta("x", 0)]],
    ["the channel is another one", [delta("a", 0), { ...delta("b", 1), channel: "reasoning" } as Event]],
  ])("ask for the chat again when %s", (_, events) => {
    expect(applyEvents(started(), events).reload).toBe(true);
  });
});

describe("replies", () => {
  test("are listed under their exchange, the attempts of a pane in their order", () => {
    const { state } = applyEvents(openChat(sampleChat()), [
      { kind: "exchange_added", chat_id: CHAT_ID, exchange: sampleExchange("x") },
      changed(sampleReply("r2", { attempt: 2 })),
      changed(sampleReply("r1")),
      changed(sampleReply("other", { pane_id: PANE_IDS[1] })),
    ]);
    const [exchange] = state.exchanges;
    expect(exchange && attemptsOf(state, exchange, PANE_IDS[0]).map((reply) => reply.reply_id)).toEqual(["r1", "r2"]);
  });

  test("keep their parts when only their state changes", () => {
    const { state } = applyEvents(started(), [delta("text", 0), changed(sampleReply("r", { status: "complete" }))]);
    expect(state.replies.get("r")?.status).toBe("complete");
    expect(textOf(state)).toBe("text");
  });

  test("of an exchange that is not known ask for the chat again", () => {
    expect(applyEvents(started(), [changed(sampleReply("n", { exchange_id: "y" }))]).reload).toBe(true);
  });

  test("an exchange that comes twice is there once", () => {
    const added: Event = { kind: "exchange_added", chat_id: CHAT_ID, exchange: sampleExchange("x", [sampleReply("r")]) };
    const { state } = applyEvents(openChat(sampleChat()), [added, delta("text", 0), added]);
    expect(state.exchanges.map(({ replyIds }) => replyIds)).toEqual([["r"]]);
    expect(textOf(state)).toBe("text");
  });

  test("make their pane busy until they end", () => {
    expect(busyPanes(started())).toEqual(new Set([PANE_IDS[0]]));
    for (const status of ["complete", "stopped", "interrupted", "failed"] as const) {
      expect(busyPanes(applyEvents(started(), [changed(sampleReply("r", { status }))]).state).size).toBe(0);
    }
  });
});

describe("calls", () => {
  const chunks = (state: ChatState) => {
    const [part] = partsOf(state);
    return part?.kind === "call" ? part.output : null;
  };

  test("show what they write in the order it came, each stream by its own offsets", () => {
    const { state } = applyEvents(started(), [
      called(sampleCall()),
      output("one ", 0),
      output("bad", 0, "stderr"),
      output("one two", 0),
    ]);
    expect(chunks(state)).toMatchObject({
      chunks: [
        { stream: "stdout", text: "one " },
        { stream: "stderr", text: "bad" },
        { stream: "stdout", text: "two" },
      ],
      incomplete: false,
    });
  });

  test("keep their output when they end, and when the chat is loaded again", () => {
    const { state } = applyEvents(started(), [called(sampleCall()), output("one", 0), called(sampleCall({ state: "ok" }))]);
    expect(chunks(state)?.chunks).toEqual([{ stream: "stdout", text: "one" }]);
    const reply = sampleReply("r", { parts: [sampleCall({ state: "ok" })] });
    const again = openChat(sampleChat([sampleExchange("x", [reply])]), state);
    expect(chunks(again)?.chunks).toEqual([{ stream: "stdout", text: "one" }]);
  });

  test("say that output is missing when it began before the page looked", () => {
    const { state } = applyEvents(started(), [called(sampleCall()), output("late", 100), output("r", 104)]);
    expect(chunks(state)).toMatchObject({ chunks: [{ text: "later" }], incomplete: true });
  });

  test("keep the end of a long output, and say so", () => {
    const block = "x".repeat(3_000);
    const events = Array.from({ length: MAX_CHUNKS + 5 }, (_, index) => output(block, index * block.length));
    const { state } = applyEvents(started(), [called(sampleCall()), ...events]);
    expect(chunks(state)?.chunks.length).toBe(MAX_CHUNKS);
    expect(chunks(state)?.incomplete).toBe(true);
  });

  test("output of a call that is not known asks for the chat again", () => {
    expect(applyEvents(started(), [output("x", 0)]).reload).toBe(true);
  });

  test("a call in the place of another asks for the chat again", () => {
    expect(applyEvents(started(), [called(sampleCall()), called(sampleCall({ call_id: "other" }))]).reload).toBe(true);
  });
});

describe("the rest of a chat", () => {
  test("approvals are taken in, and wait only until they expire", () => {
    const event: Event = { kind: "approval_changed", chat_id: CHAT_ID, approval: sampleApproval() };
    const approval = applyEvents(started(), [event]).state.approvals.get("a");
    expect(approval && isPending(approval, 999)).toBe(true);
    expect(approval && isPending(approval, 1_000)).toBe(false);
    expect(isPending(sampleApproval({ state: "allowed" }), 0)).toBe(false);
  });

  test("events of other chats change nothing", () => {
    const before = started();
    const other: Event = { ...delta("x", 0), chat_id: "d".repeat(32) } as Event;
    expect(applyEvents(before, [other])).toEqual({ state: before, reload: false, gone: false });
  });

  test("what a batch does not touch keeps its identity", () => {
    const replies = [sampleReply("r"), sampleReply("other", { pane_id: PANE_IDS[1] })];
    const before = openChat(sampleChat([sampleExchange("x", replies)]));
    const { state } = applyEvents(before, [delta("x", 0)]);
    expect(state.replies.get("other")).toBe(before.replies.get("other"));
    expect(state.approvals).toBe(before.approvals);
    expect(state.exchanges).toBe(before.exchanges);
    expect(textOf(before)).toBe("");
  });

  test("a change of the chat or a reset loads it again, its end is told", () => {
    const summary = { chat_id: CHAT_ID, title: "New", created_at: 1, updated_at: 2 };
    expect(applyEvents(started(), [{ kind: "chat_changed", chat_id: CHAT_ID, chat: summary }]).reload).toBe(true);
    expect(applyEvents(started(), [{ kind: "reset" }]).reload).toBe(true);
    expect(applyEvents(started(), [{ kind: "chat_changed", chat_id: CHAT_ID, chat: null }]).gone).toBe(true);
  });
});
