/** A modal dialog of the browser's own: it keeps the focus inside and gives it back at the end. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icons";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly testId?: string;
}

export function Dialog({ title, onClose, children, testId }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    element.current?.showModal();
  }, []);
  // A press on the dialog element itself is one on the backdrop: its content fills all of it.
  const onPointerDown = (event: PointerEvent) => {
    if (event.target === element.current) element.current?.close();
  };
  return (
    <dialog ref={element} aria-labelledby={titleId} onClose={onClose} onPointerDown={onPointerDown} data-testid={testId}>
      <div class="dialog-content">
        <header class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={() => element.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
