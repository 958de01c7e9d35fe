/** Messages about what did not work, above everything else. */
import type { Notices } from "../app/notices";
import { Icon } from "./icons";

export function NoticeList({ notices }: { notices: Notices }) {
  return (
    <div class="notices" role="alert" data-testid="notices">
      {notices.list.value.map(({ id, detail, hint }) => (
        <div class="notice" key={id} data-testid="notice">
          <Icon name="alert" />
          <div>
            <strong>{detail}</strong>
            {hint && <p>{hint}</p>}
          </div>
          <button
            type="button"
            class="quiet small"
            aria-label="Dismiss"
            onClick={() => {
              notices.dismiss(id);
            }}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
