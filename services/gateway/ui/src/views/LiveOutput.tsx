/** What a command writes, as it writes it. */
import { memo } from "preact/compat";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { OutputChunk, OutputView } from "../chat/types";
import { withoutTerminalSequences } from "../text/visible";
import { VisibleText } from "./VisibleText";

export function LiveOutput({ output, running }: { output: OutputView; running: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (box.current && follows.current) box.current.scrollTop = box.current.scrollHeight;
  });
  const onScroll = () => {
    const element = box.current;
    if (element) follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < 24;
  };
  return (
    <div class="call-result">
      <div class="call-label">{running ? "Output, live" : "Output"}</div>
      <pre class="source live" ref={box} data-testid="call-output" tabIndex={0} onScroll={onScroll}>
        {output.incomplete && <span class="muted">… earlier output is not shown here{"\n"}</span>}
        {output.chunks.map((chunk, index) => (
          <Chunk key={index} chunk={chunk} />
        ))}
      </pre>
    </div>
  );
}

const Chunk = memo(({ chunk }: { chunk: OutputChunk }) => (
  <span class={chunk.stream}>
    <VisibleText text={withoutTerminalSequences(chunk.text)} />
  </span>
));
