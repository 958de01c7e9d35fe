import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countCodePoints, dropCodePoints } from "./codepoints";
import { visible, visiblePieces, withoutLookalikes, withoutTerminalSequences } from "./visible";

const anyText = fc.string({ unit: "binary" });

describe("code points", () => {
  test.each([
    ["", 0],
    ["abc", 3],
    ["🙂", 1],
    ["a🙂b", 3],
    ["👩‍👩‍👧", 5],
    ["\ud800", 1],
    ["\udc00\ud800x", 3],
  ])("%j has as many as the server counts", (text, count) => {
    expect(countCodePoints(text)).toBe(count);
  });

  test("counting agrees with the iterator and dropping splits where counting says", () => {
    fc.assert(
      fc.property(anyText, fc.nat(20), (text, count) => {
        expect(countCodePoints(text)).toBe(Array.from(text).length);
        expect(dropCodePoints(text, count)).toBe(Array.from(text).slice(count).join(""));
      }),
    );
  });
});

describe("visible", () => {
  test.each([
    // what hides or reorders
    ["right-to-left override", "a\u202eb", "a⟨U+202E⟩b"],
    ["isolates", "\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"],
    ["zero width space and joiner", "r\u200bm\u200d", "r⟨U+200B⟩m⟨U+200D⟩"],
    ["byte order mark", "\ufeffls", "⟨U+FEFF⟩ls"],
    ["soft hyphen", "a\u00adb", "a⟨U+00AD⟩b"],
    ["tag characters", "a\u{e0041}", "a⟨U+E0041⟩"],
    ["variation selector", "a\ufe0f", "a⟨U+FE0F⟩"],
    ["interlinear annotation", "a\ufff9b", "a⟨U+FFF9⟩b"],
    ["Hangul filler", "a\u3164b", "a⟨U+3164⟩b"],
    ["blank Braille pattern", "a\u2800b", "a⟨U+2800⟩b"],
    // controls
    ["escape", "\u001b[31m", "⟨U+001B⟩[31m"],
    ["NUL, backspace and delete", "\0\b\u007f", "⟨U+0000⟩⟨U+0008⟩⟨U+007F⟩"],
    ["carriage return", "safe\revil", "safe⟨U+000D⟩evil"],
    ["next line", "a\u0085b", "a⟨U+0085⟩b"],
    ["line separator", "a\u2028b", "a⟨U+2028⟩b"],
    ["lone surrogate", "a\ud800", "a⟨U+D800⟩"],
    ["private use", "\ue000", "⟨U+E000⟩"],
    // what passes for something else
    ["no-break space", "rm\u00a0-rf", "rm⟨U+00A0⟩-rf"],
    ["full-width letters", "ｒm", "⟨U+FF52⟩m"],
    ["mathematical letters", "\u{1d42b}m", "⟨U+1D42B⟩m"],
    // what stays
    ["tabs and line feeds", "a\tb\nc", "a\tb\nc"],
    ["letters of any script and pictures", "naïve Привет 你好 🙂", "naïve Привет 你好 🙂"],
  ])("%s", (_, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test("nothing that is shown as it is could hide, and nothing gets lost", () => {
    const shows = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]$|^[\n\t]$/u;
    fc.assert(
      fc.property(anyText, (text) => {
        const pieces = visiblePieces(text);
        for (const piece of pieces) if (!piece.hidden) for (const one of piece.text) expect(one).toMatch(shows);
        const back = pieces.map(({ text: shown, hidden }) =>
          hidden ? String.fromCodePoint(Number.parseInt(shown.slice(3, -1), 16)) : shown,
        );
        expect(back.join("")).toBe(text);
      }),
    );
  });
});

describe("withoutLookalikes", () => {
  const shown = (text: string) =>
    withoutLookalikes(text)
      .map((piece) => piece.text)
      .join("");

  test.each([
    ["a Cyrillic letter in a Latin word", "curl ex\u0430mple.com", "curl ex\u0430⟨U+0430⟩mple.com"],
    ["a Greek letter in a Latin word", "\u03bfk", "\u03bf⟨U+03BF⟩k"],
    ["and what hides", "\u0430pt\u200b", "\u0430⟨U+0430⟩pt⟨U+200B⟩"],
  ])("names %s", (_, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test.each([["plain ASCII -rf 'x' | y"], ["слово и word"], ["文件name.txt"], ["αβγ = 3"]])("leaves %j alone", (text) => {
    expect(shown(text)).toBe(text);
  });
});

describe("withoutTerminalSequences", () => {
  test.each([
    ["colours", "\u001b[1;32mok\u001b[0m", "ok"],
    ["cursor moves", "a\u001b[2Kb\u001b[1Ac", "abc"],
    ["window titles and links", "\u001b]0;title\u0007x\u001b]8;;http://e\u001b\\y", "xy"],
    ["line ends", "a\r\nb\rc", "a\nb\nc"],
  ])("takes out %s", (_, text, left) => {
    expect(withoutTerminalSequences(text)).toBe(left);
  });

  test("leaves an escape that begins no sequence to be named", () => {
    expect(visible(withoutTerminalSequences("\u001bx"))).toBe("⟨U+001B⟩x");
  });
});
