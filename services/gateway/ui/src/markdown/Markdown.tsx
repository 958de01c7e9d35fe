/** A reply's text, drawn block by block: while it grows, only the blocks that changed are drawn again. */
import { memo } from "preact/compat";
import { useMemo, useRef } from "preact/hooks";
import { growBlocks, NO_BLOCKS, readBlocks, type Block } from "./blocks";
import { renderBlock } from "./render";

export function Markdown({ text, growing }: { text: string; growing: boolean }) {
  const before = useRef(NO_BLOCKS);
  const finished = useMemo(() => (growing ? null : readBlocks(text)), [text, growing]);
  const shown = finished ?? growBlocks(before.current, text);
  before.current = shown;
  return (
    <div class="markdown">
      {shown.blocks.map((block, index) => (
        <MarkdownBlock key={index} block={block} growing={growing} />
      ))}
    </div>
  );
}

// Two blocks of the same source look the same, except that a finished text knows where its reference links lead.
const MarkdownBlock = memo(
  ({ block }: { block: Block; growing: boolean }) => <>{renderBlock(block.token)}</>,
  (before, after) => before.block.raw === after.block.raw && before.growing === after.growing,
);
