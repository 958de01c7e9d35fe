/** Why something was not done, and what would make it work. */
import type { Refusal } from "../api/types.gen";
import { visible } from "../text/visible";
import { Icon } from "./icons";

export function ErrorLine({ error }: { error: Refusal }) {
  return (
    <div class="error-line" role="alert" data-testid="reply-error" data-code={error.code}>
      <Icon name="alert" />
      <div>
        <strong>{visible(error.detail)}</strong>
        {error.hint && <p>{visible(error.hint)}</p>}
        <code class="error-code">{error.code}</code>
      </div>
    </div>
  );
}
