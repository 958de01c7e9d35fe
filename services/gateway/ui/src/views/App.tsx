/** The page: signed out, or at work. */
import { useEffect, useMemo } from "preact/hooks";
import { Client } from "../api/client";
import { chatInHash, showInAddress } from "../app/route";
import { Store } from "../app/store";
import { session, sessionEnded } from "../session/session";
import { SignIn } from "./SignIn";
import { Workbench } from "./Workbench";

export function App() {
  const state = session.value;
  if (state.phase === "starting") return <div class="starting" aria-busy="true" />;
  if (state.phase === "none") return <SignIn error={state.error} />;
  return <SignedIn key={state.token} token={state.token} />;
}

function SignedIn({ token }: { token: string }) {
  const store = useMemo(() => {
    return new Store(
      new Client(token, (error) => {
        sessionEnded(error);
      }),
    );
  }, [token]);

  useEffect(() => {
    void store.start(chatInHash(window.location.hash));
    const navigate = () => {
      const chatId = chatInHash(window.location.hash);
      if (chatId) store.open(chatId);
      else store.newChat();
    };
    const look = () => {
      if (document.visibilityState === "visible") void Promise.all([store.loadChats(), store.loadWaiting()]);
    };
    window.addEventListener("popstate", navigate);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.removeEventListener("popstate", navigate);
      document.removeEventListener("visibilitychange", look);
      store.close();
    };
  }, [store]);

  const feed = store.feed.value;
  const shown = feed ? feed.chatId : store.draft.value ? "" : null;
  useEffect(() => {
    if (shown !== null) showInAddress(shown);
  }, [shown]);

  return <Workbench store={store} />;
}
