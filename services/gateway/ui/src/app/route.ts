/** The open chat stands in the address, after the #, so that a reload comes back to it. */

/** The chat an address names; null when it names none. */
export function chatInHash(hash: string): string | null {
  return /^#chat=([0-9a-f]{32})$/.exec(hash)?.[1] ?? null;
}

export function hashOfChat(chatId: string): string {
  return chatId === "" ? "" : `#chat=${chatId}`;
}

/** Shows the chat in the address bar; a step of the history only where the chat changed. */
export function showInAddress(chatId: string): void {
  const hash = hashOfChat(chatId);
  if (window.location.hash === hash) return;
  window.history.pushState(null, "", window.location.pathname + window.location.search + hash);
}
