/** Gathers what arrives and hands it over at the pace of a screen, so that a fast model does not outrun it. */

// Drawing four panes at every frame can take all of a core where no graphics card helps; text reads as smoothly at
// this pace. What comes after a pause is still drawn with the next frame.
const PACE_MS = 40;
// Hidden tabs get no frames; they are served at this pace instead.
const HIDDEN_MS = 300;

export class FrameBatch<T> {
  private waiting: T[] = [];
  private frame = 0;
  private pause: ReturnType<typeof setTimeout> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private handedOverAt = -Infinity;

  constructor(private readonly handle: (items: readonly T[]) => void) {}

  add(items: readonly T[]): void {
    const idle = this.waiting.length === 0;
    this.waiting.push(...items);
    if (!idle || items.length === 0) return;
    this.timer = setTimeout(this.flush, HIDDEN_MS);
    this.pause = setTimeout(
      () => {
        this.frame = requestAnimationFrame(this.flush);
      },
      Math.max(0, this.handedOverAt + PACE_MS - performance.now()),
    );
  }

  /** Hands over what waits now. */
  flush = (): void => {
    const items = this.waiting;
    this.clear();
    this.handedOverAt = performance.now();
    if (items.length > 0) this.handle(items);
  };

  /** Forgets what waits. */
  clear(): void {
    this.waiting = [];
    cancelAnimationFrame(this.frame);
    clearTimeout(this.pause);
    clearTimeout(this.timer);
  }
}
