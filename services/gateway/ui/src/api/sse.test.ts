import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SseParser } from "./sse";

const parse = (text: string) => new SseParser().push(text);

describe("SseParser", () => {
  test.each([
    ["a message with its id", 'id: 7\ndata: {"a":1}\n\n', [{ id: "7", data: '{"a":1}' }]],
    ["data in several lines", "data: a\ndata: b\n\n", [{ id: "", data: "a\nb" }]],
    ["an id that stays", "id: 1\ndata: a\n\ndata: b\n\n", [{ id: "1", data: "a" }, { id: "1", data: "b" }]],
    ["line ends of other systems", "id: 1\r\ndata: a\r\n\r\ndata: b\r\rx", [{ id: "1", data: "a" }, { id: "1", data: "b" }]],
    ["one leading space only", "data:  a\n\n", [{ id: "", data: " a" }]],
    ["no space", "data:a\n\n", [{ id: "", data: "a" }]],
    ["comments and unknown fields", ": beat\nretry: 9\nevent: x\n\ndata: a\n\n", [{ id: "", data: "a" }]],
    ["nothing before the blank line", "data: a\n", []],
    ["an id with NUL is not taken", "id: 3\nid: 4\0\ndata: a\n\n", [{ id: "3", data: "a" }]],
  ])("reads %s", (_, text, messages) => {
    expect(parse(text)).toEqual(messages);
  });

  test("gives the same messages however the text is cut", () => {
    const line = fc.constantFrom("id: 1", "data: 🙂 x", "data:", ": beat", "", "event: y");
    const end = fc.constantFrom("\n", "\r\n", "\r");
    fc.assert(
      fc.property(fc.array(fc.tuple(line, end)), fc.array(fc.nat(40)), (lines, cuts) => {
        const text = lines.map((pair) => pair.join("")).join("") + "data: end\n\n";
        const parser = new SseParser();
        const messages = [];
        let rest = text;
        for (const cut of cuts) {
          messages.push(...parser.push(rest.slice(0, cut)));
          rest = rest.slice(cut);
        }
        messages.push(...parser.push(rest));
        expect(messages).toEqual(parse(text));
      }),
    );
  });
});
