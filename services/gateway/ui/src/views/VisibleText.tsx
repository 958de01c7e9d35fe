/** Text shown as it is, with every character that would hide or reorder something named in its place. */
import { memo } from "preact/compat";
import { visiblePieces, withoutLookalikes, type Piece } from "../text/visible";

export const VisibleText = memo(({ text }: { text: string }) => <Pieces pieces={visiblePieces(text)} />);

function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <>
      {pieces.map((piece, index) =>
        piece.hidden ? (
          <mark key={index} class="hidden-character" title="A character that would not be seen for what it is">
            {piece.text}
          </mark>
        ) : (
          piece.text
        ),
      )}
    </>
  );
}

/**
 * What would be run or sent, line by line: numbered, so that wrapping is not taken for a new line, and with letters
 * that pass for others named too. The element's text is that of the call but for the names.
 */
export function VisibleLines({ text }: { text: string }) {
  const lines = text.split("\n");
  return (
    <>
      {lines.map((line, index) => (
        <span key={index} class="source-line">
          <Pieces pieces={withoutLookalikes(index < lines.length - 1 ? `${line}\n` : line)} />
        </span>
      ))}
    </>
  );
}
