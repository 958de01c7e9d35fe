/** Scrolling of a pane: with the text as it comes, unless the person reads something else. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

// A person this close to the end wants to stay there.
const NEAR_END_PX = 48;
const CARD_MARGIN_PX = 12;

interface Element {
  readonly current: HTMLElement | null;
}

/**
 * Keeps the end in view until the person scrolls up, and again once a new reply (`replyId`) begins.
 *
 * A card that waits (`cardId`) is brought to the top once instead, since its beginning has to be read first; from then
 * on nothing moves until it is decided.
 */
export function useFollowEnd(scroller: Element, replyId: string | undefined, cardId: string | undefined): void {
  const follows = useRef(true);
  const lastTop = useRef(0);
  const lastReply = useRef<string | undefined>(undefined);
  const lastCard = useRef<string | undefined>(undefined);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    // Growing text moves the end away without anyone having scrolled: only a way up counts as leaving.
    const onScroll = () => {
      const near = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
      if (near) follows.current = true;
      else if (element.scrollTop < lastTop.current) follows.current = false;
      lastTop.current = element.scrollTop;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      element.removeEventListener("scroll", onScroll);
    };
  }, [scroller]);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    if (replyId !== lastReply.current) follows.current = true;
    lastReply.current = replyId;
    const isNewCard = cardId !== undefined && cardId !== lastCard.current;
    lastCard.current = cardId;
    if (!follows.current || (cardId !== undefined && !isNewCard)) return;
    const card = isNewCard ? document.getElementById(`approval-${cardId}`) : null;
    element.scrollTop = card ? topOf(card, element) - CARD_MARGIN_PX : element.scrollHeight;
    lastTop.current = element.scrollTop;
  });
}

/** Where `child` begins in the content that `scroller` scrolls over. */
function topOf(child: HTMLElement, scroller: HTMLElement): number {
  return scroller.scrollTop + child.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
}
