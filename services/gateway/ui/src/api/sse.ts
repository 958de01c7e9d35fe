/** Server-Sent Events, taken apart as the HTML standard says (section 9.2.6), with nothing the app does not need. */

export interface SseMessage {
  /** The id line of this message or the last one before it. */
  readonly id: string;
  readonly data: string;
}

/** Takes text as it comes, in pieces of any size, and gives back whole messages. */
export class SseParser {
  private buffer = "";
  private data: string[] = [];
  private id = "";

  push(text: string): SseMessage[] {
    const messages: SseMessage[] = [];
    this.buffer += text;
    let start = 0;
    for (;;) {
      const end = nextLineEnd(this.buffer, start);
      if (end === null) break;
      const message = this.line(this.buffer.slice(start, end.at));
      if (message) messages.push(message);
      start = end.next;
    }
    this.buffer = this.buffer.slice(start);
    return messages;
  }

  private line(line: string): SseMessage | null {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const rest = colon < 0 ? "" : line.slice(colon + 1);
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    if (field === "data") this.data.push(value);
    if (field === "id" && !value.includes("\0")) this.id = value;
    return null;
  }

  private dispatch(): SseMessage | null {
    if (this.data.length === 0) return null;
    const message = { id: this.id, data: this.data.join("\n") };
    this.data = [];
    return message;
  }
}

/** The end of the line that begins at `start`; null while it is not certain (a final CR may be half of CRLF). */
function nextLineEnd(text: string, start: number): { at: number; next: number } | null {
  const lf = text.indexOf("\n", start);
  const cr = text.indexOf("\r", start);
  if (cr >= 0 && (lf < 0 || cr < lf)) {
    if (cr === text.length - 1) return null;
    return { at: cr, next: text[cr + 1] === "\n" ? cr + 2 : cr + 1 };
  }
  return lf < 0 ? null : { at: lf, next: lf + 1 };
}
