import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growBlocks, NO_BLOCKS, readBlocks } from "./blocks";
import { decodeEntities } from "./entities";
import { safeHref } from "./links";

const FRAGMENTS = [
  "- a", "- b", "1. one", "2. two", "  nested", "    code", "# Head", "> quote", "lazy", "```js", "```", "~~~", "| a | b |", "|---|---|",
  "| 1 | 2 |", "***", "===", "---", "text **bold", "** more", "<div>", "</div>", "<!-- c", "-->", "[x](http://e)", "`tick", "\t",
  " ", "\n", "\n\n", "\n", "\n\n", "🙂", "\r\n", "* x", "+ y", "[ ] t", "&amp;", "\\",
]; // prettier-ignore

describe("growBlocks", () => {
  test("gives the blocks that reading the whole text gives, however it grows", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 40 }), (pieces) => {
        let text = "";
        let blocks = NO_BLOCKS;
        for (const character of pieces.join("")) {
          text += character;
          blocks = growBlocks(blocks, text);
        }
        expect(blocks.blocks.map(({ raw }) => raw)).toEqual(readBlocks(text).blocks.map(({ raw }) => raw));
      }),
      { numRuns: 2_000 },
    );
  });

  test("nothing of the text is left out", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const all = readBlocks(text).blocks.map(({ raw }) => raw);
        expect(all.join("")).toBe(text.replace(/\r\n?/g, "\n"));
      }),
    );
  });

  test("keeps the identity of finished blocks", () => {
    const before = growBlocks(NO_BLOCKS, "# One\n\ntwo\n\nthree\n\nfour");
    const after = growBlocks(before, "# One\n\ntwo\n\nthree\n\nfour and more");
    expect(after.blocks[0]).toBe(before.blocks[0]);
    expect(after.blocks[2]).toBe(before.blocks[2]);
  });

  test("reads afresh when the text is another one", () => {
    expect(growBlocks(readBlocks("old text"), "# New").blocks.map(({ token }) => token.type)).toEqual(["heading"]);
  });

  test("shows a text that overflows the reader as plain text", () => {
    const text = "> ".repeat(20_000) + "deep";
    expect(readBlocks(text).blocks.map(({ raw }) => raw).join("")).toBe(text);
  });
});

describe("safeHref", () => {
  test.each([
    ["https://example.com/a?b#c", "https://example.com/a?b#c"],
    ["HTTP://EXAMPLE.com", "http://example.com/"],
    ["mailto:a@example.com", "mailto:a@example.com"],
    // what would run, or be taken from this page
    ["javascript:alert(1)", null],
    ["JaVaScRiPt:alert(1)", null],
    [" javascript:alert(1)", null],
    ["java\nscript:alert(1)", null],
    ["\u0001javascript:alert(1)", null],
    ["data:text/html,<script>alert(1)</script>", null],
    ["vbscript:x", null],
    ["blob:http://127.0.0.1/x", null],
    ["file:///etc/passwd", null],
    ["view-source:http://e", null],
    ["/api/session", null],
    ["//example.com", null],
    ["#login=x", null],
    ["", null],
    // what pretends to lead elsewhere
    ["https://bank.example@evil.example/", null],
  ])("%j", (href, expected) => {
    expect(safeHref(href)).toBe(expected);
  });
});

describe("decodeEntities", () => {
  test.each([
    ["a &lt;b&gt; &amp;amp; &#65;&#x1F642;", "a <b> &amp; A🙂"],
    ["&unknown; &constructor; &", "&unknown; &constructor; &"],
    ["&#0;&#xD800;&#x110000;", "\ufffd\ufffd\ufffd"],
  ])("%j", (text, expected) => {
    expect(decodeEntities(text)).toBe(expected);
  });
});
