/**
 * Splits a reply into top-level Markdown blocks, cheaply while it grows.
 *
 * Text only ever grows at its end, and a new piece can change no more than the last blocks. So what stood before them
 * is kept, and only the rest is read again. While a reply grows, reference links (`[text][name]`) stay unresolved; the
 * finished reply is read once as a whole.
 */
import { Lexer, type Token } from "marked";

export interface Block {
  readonly raw: string;
  readonly token: Token;
}

export interface Blocks {
  readonly text: string;
  readonly blocks: readonly Block[];
}

export const NO_BLOCKS: Blocks = { text: "", blocks: [] };

// A list can take in what follows it over a blank line once it turns out to be an item: the block that grows, the space
// before it and the block before that are open.
const OPEN_BLOCKS = 3;
// Beyond this a block is shown as plain text: no one reads it as prose, and reading it again would cost frames.
const LONGEST_BLOCK = 200_000;

/** The blocks of a growing text, given those of an earlier state of it. */
export function growBlocks(before: Blocks, source: string): Blocks {
  const text = withLineFeeds(source);
  if (text === before.text) return before;
  if (!text.startsWith(before.text)) return readBlocks(text);
  const kept = before.blocks.slice(0, -OPEN_BLOCKS);
  const length = kept.reduce((sum, block) => sum + block.raw.length, 0);
  const tail = lex(text.slice(length));
  return { text, blocks: [...kept, ...tail] };
}

/** The blocks of a finished text. */
export function readBlocks(source: string): Blocks {
  const text = withLineFeeds(source);
  return { text, blocks: lex(text) };
}

function lex(text: string): Block[] {
  let blocks: Block[];
  try {
    blocks = Lexer.lex(text, { gfm: true }).map((token) => ({ raw: token.raw, token }));
  } catch {
    // Thousands of nested quotes overflow the reader's stack; such a text is shown as it is.
    return [plain(text)];
  }
  const read = blocks.reduce((sum, block) => sum + block.raw.length, 0);
  // Growing relies on the blocks being the whole text; should the reader ever leave something out, nothing is hidden.
  if (read !== text.length) return [plain(text)];
  return blocks.map((block) => (block.raw.length > LONGEST_BLOCK ? plain(block.raw) : block));
}

function withLineFeeds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

function plain(raw: string): Block {
  return { raw, token: { type: "code", raw, text: raw } };
}
