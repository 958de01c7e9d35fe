/** The screen for work: history at the side, the chat's panes, one composer. */
import { useEffect, useState } from "preact/hooks";
import type { Store } from "../app/store";
import { Composer } from "./Composer";
import { Header } from "./Header";
import { NoticeList } from "./NoticeList";
import { Panes } from "./Panes";
import { Sidebar } from "./Sidebar";

export function Workbench({ store }: { store: Store }) {
  const [sidebar, setSidebar] = useState(false);
  const waiting = store.waiting.value.length;

  useEffect(() => {
    const name = store.chat.value?.title;
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${name ? `${name} · ` : ""}Switchbox`;
  });

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
      // An open dialog takes Escape for itself.
      if (document.querySelector("dialog[open]")) return;
      if (sidebar) setSidebar(false);
      else void store.stopAll();
    };
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("keydown", onKey);
    };
  }, [store, sidebar]);

  return (
    <div class={sidebar ? "workbench sidebar-open" : "workbench"}>
      <a class="skip" href="#composer" onClick={focusComposer}>
        To the composer
      </a>
      <Sidebar
        store={store}
        onClose={() => {
          setSidebar(false);
        }}
      />
      <div
        class="scrim"
        onClick={() => {
          setSidebar(false);
        }}
      />
      <main class="stage">
        <Header
          store={store}
          onMenu={() => {
            setSidebar(true);
          }}
        />
        <Panes store={store} />
        <Composer store={store} />
      </main>
      <NoticeList notices={store.notices} />
    </div>
  );
}

function focusComposer(event: Event): void {
  event.preventDefault();
  document.getElementById("composer")?.focus();
}
