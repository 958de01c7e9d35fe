/** A question and a pane's answer to it; of several attempts the last, with a way to the earlier ones. */
import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import type { Approval, Pane } from "../api/types.gen";
import type { Store } from "../app/store";
import type { ReplyView } from "../chat/types";
import { Icon } from "./icons";
import { Reply } from "./Reply";

interface Props {
  readonly store: Store;
  readonly pane: Pane;
  readonly question: string;
  readonly attempts: readonly ReplyView[];
  /** It is the pane's last, the only one that can be tried again or continued. */
  readonly last: boolean;
  readonly approvals: ReadonlyMap<string, Approval>;
}

export const ReplyGroup = memo(({ store, pane, question, attempts, last, approvals }: Props) => {
  // Counted from the end, so that a new attempt is the one that is seen.
  const [back, setBack] = useState(0);
  const shown = attempts.at(-1 - Math.min(back, attempts.length - 1));
  if (!shown) return null;
  const place = attempts.indexOf(shown);
  return (
    <div class="turn">
      <div class="question" data-testid="question">
        {question}
      </div>
      {attempts.length > 1 && (
        <div class="attempts">
          <button
            type="button"
            class="quiet small"
            aria-label="Earlier attempt"
            disabled={place === 0}
            onClick={() => {
              setBack(attempts.length - place);
            }}
          >
            <Icon name="back" />
          </button>
          <span data-testid="attempt">
            Attempt {place + 1} of {attempts.length}
          </span>
          <button
            type="button"
            class="quiet small"
            aria-label="Later attempt"
            disabled={place === attempts.length - 1}
            onClick={() => {
              setBack(attempts.length - place - 2);
            }}
          >
            <Icon name="chevron" />
          </button>
        </div>
      )}
      <Reply store={store} pane={pane} reply={shown} last={last && place === attempts.length - 1} approvals={approvals} />
    </div>
  );
}, sameGroup);

function sameGroup(before: Props, after: Props): boolean {
  return (
    before.pane === after.pane &&
    before.last === after.last &&
    before.question === after.question &&
    before.approvals === after.approvals &&
    before.attempts.length === after.attempts.length &&
    before.attempts.every((reply, index) => reply === after.attempts[index])
  );
}
