/** Copies a text and says for a moment that it did. */
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icons";

const SAID_FOR_MS = 1_600;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState<"" | "Copied" | "Not copied">("");

  useEffect(() => {
    if (said === "") return;
    const timer = setTimeout(() => {
      setSaid("");
    }, SAID_FOR_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [said]);

  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => {
        setSaid("Copied");
      },
      () => {
        setSaid("Not copied");
      },
    );
  };
  return (
    <button type="button" class="quiet small" aria-label={label} title={label} onClick={copy}>
      <Icon name={said === "Copied" ? "check" : "copy"} />
      <span aria-live="polite">{said}</span>
    </button>
  );
}
