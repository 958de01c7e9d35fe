/** Gathers what arrives and hands it over once per animation frame, so that a fast model does not outrun the screen. */

// Hidden tabs get no frames; they are served at this pace instead.
const HIDDEN_MS = 300;

export class FrameBatch<T> {
  private waiting: T[] = [];
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly handle: (items: readonly T[]) => void) {}

  add(items: readonly T[]): void {
    const idle = this.waiting.length === 0;
    this.waiting.push(...items);
    if (!idle || items.length === 0) return;
    this.frame = requestAnimationFrame(this.flush);
    this.timer = setTimeout(this.flush, HIDDEN_MS);
  }

  /** Hands over what waits now. */
  flush = (): void => {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    const items = this.waiting;
    this.waiting = [];
    if (items.length > 0) this.handle(items);
  };

  /** Forgets what waits. */
  clear(): void {
    this.waiting = [];
    this.flush();
  }
}
