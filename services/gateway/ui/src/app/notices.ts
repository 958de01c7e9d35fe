/** Short messages about what did not work. They stay until they are read away or a while has passed. */
import { signal } from "@preact/signals";
import { ApiError } from "../api/client";

const SHOWN_MS = 12_000;
const MAX_NOTICES = 4;

export interface Notice {
  readonly id: number;
  readonly detail: string;
  readonly hint: string;
}

export class Notices {
  readonly list = signal<readonly Notice[]>([]);
  private next = 1;

  error(error: unknown): void {
    // The page that takes the place of the chat says that a session is over.
    if (error instanceof ApiError && error.endsSession) return;
    const known = error instanceof ApiError;
    const detail = known ? error.message : "Something went wrong in this page.";
    const hint = known ? error.hint : "Reload the page; nothing that was sent is lost.";
    if (this.list.value.some((notice) => notice.detail === detail)) return;
    const notice = { id: this.next, detail, hint };
    this.next += 1;
    this.list.value = [...this.list.value, notice].slice(-MAX_NOTICES);
    setTimeout(() => {
      this.dismiss(notice.id);
    }, SHOWN_MS);
  }

  dismiss(id: number): void {
    this.list.value = this.list.value.filter((notice) => notice.id !== id);
  }
}
