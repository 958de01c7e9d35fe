/** A block of code with its language and a button that copies it. */
import { CopyButton } from "../views/CopyButton";

export function CodeBlock({ text, language }: { text: string; language: string }) {
  const name = /^[\w+#.-]{1,20}/.exec(language)?.[0] ?? "";
  return (
    <div class="code-block">
      <div class="code-head">
        <span>{name || "code"}</span>
        <CopyButton text={text} label="Copy code" />
      </div>
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}
