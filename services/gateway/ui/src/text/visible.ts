/**
 * Makes text that a model wrote show itself as it is.
 *
 * Characters that are invisible, that reorder what stands around them, or that pass for a plain space are replaced by
 * their code point, so that a person sees what a program would be given.
 */

export interface Piece {
  readonly text: string;
  /** The piece stands for a character that could not be shown as itself. */
  readonly hidden: boolean;
}

// In commands and programs a letter can also pass for another one. Full-width and mathematical letters are written with
// their code point everywhere; those of scripts that share shapes with Latin only inside a word that has Latin letters
// too. (A word made of such letters alone is not noticed.)
const WORD = /[\p{L}\p{M}\p{N}_.-]+/gu;
const LATIN = /\p{Script=Latin}/u;
const FOREIGN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/gu;

// Everything of Unicode that shows nothing or changes its surroundings: controls, formats (bidi, zero-width, tags),
// surrogates without a partner, private and unassigned code points, line separators, other spaces than U+0020,
// default-ignorable ones (fillers, variation selectors), the blank Braille pattern, and letters that are made to be taken
// for ASCII. Tab and line feed stay.
const HIDDEN =
  /[\uFF01-\uFF5E\u{1D400}-\u{1D7FF}\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u2800]/gu;
const SHOWN = new Set([" ", "\n", "\t"]);

/** The name of a code point, as people write it: ⟨U+202E⟩. */
export function codePointName(character: string): string {
  const value = character.codePointAt(0) ?? 0;
  return `⟨U+${value.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** Takes `text` apart into what can be shown as it is and what has to be named. */
export function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const [character] = match;
    if (SHOWN.has(character)) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), hidden: false });
    pieces.push({ text: codePointName(character), hidden: true });
    end = match.index + character.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), hidden: false });
  return pieces;
}

/** `text` with the letters named that pass for Latin ones: those of another script in a word that mixes both. */
export function withoutLookalikes(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const word of text.matchAll(WORD)) {
    if (!LATIN.test(word[0])) continue;
    for (const letter of word[0].matchAll(FOREIGN)) {
      const at = word.index + letter.index;
      if (at > end) pieces.push(...visiblePieces(text.slice(end, at)));
      pieces.push({ text: `${letter[0]}${codePointName(letter[0])}`, hidden: true });
      end = at + letter[0].length;
    }
  }
  return end < text.length ? [...pieces, ...visiblePieces(text.slice(end))] : pieces;
}

/** `visiblePieces` as one string, for titles and labels. */
export function visible(text: string): string {
  return visiblePieces(text)
    .map((piece) => piece.text)
    .join("");
}

// ECMA-48 control sequences (colours, cursor moves) and operating-system commands (window titles, links).
// eslint-disable-next-line no-control-regex -- control characters are what this is about
const TERMINAL_SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** A command's output without what only a terminal would understand; line ends become line feeds. */
export function withoutTerminalSequences(text: string): string {
  return text.replace(TERMINAL_SEQUENCES, "").replace(/\r\n?/g, "\n");
}
