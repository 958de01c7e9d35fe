/** Live output of a command, bounded: the end is kept, since the whole result comes when the call is over. */
import type { CallOutput } from "../api/types.gen";
import { countCodePoints, dropCodePoints } from "../text/codepoints";
import type { OutputChunk, OutputView } from "./types";

export const EMPTY_OUTPUT: OutputView = { chunks: [], seen: { stdout: 0, stderr: 0 }, incomplete: false };

// Chunks stay small so that a growing output is not written to the page again and again.
const CHUNK_CHARACTERS = 4_000;
export const MAX_CHUNKS = 50;

/** Adds a piece where its offset says it belongs; what was seen already changes nothing. */
export function addOutput(output: OutputView, piece: Pick<CallOutput, "stream" | "offset" | "text">): OutputView {
  const seen = output.seen[piece.stream];
  const overlap = Math.max(0, seen - piece.offset);
  const text = overlap > 0 ? dropCodePoints(piece.text, overlap) : piece.text;
  if (text === "") return output;
  const chunks = append(output.chunks, { stream: piece.stream, text });
  const kept = chunks.slice(-MAX_CHUNKS);
  return {
    chunks: kept,
    seen: { ...output.seen, [piece.stream]: Math.max(seen, piece.offset) + countCodePoints(text) },
    incomplete: output.incomplete || piece.offset > seen || kept.length < chunks.length,
  };
}

function append(chunks: readonly OutputChunk[], chunk: OutputChunk): readonly OutputChunk[] {
  const last = chunks.at(-1);
  if (last?.stream !== chunk.stream || last.text.length + chunk.text.length > CHUNK_CHARACTERS) {
    return [...chunks, chunk];
  }
  return [...chunks.slice(0, -1), { stream: chunk.stream, text: last.text + chunk.text }];
}
