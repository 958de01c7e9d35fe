/** What a tab without a session shows: why, and how to get one. */
import { useState } from "preact/hooks";
import type { ApiError } from "../api/client";
import { takeOverSession } from "../session/session";
import { CopyButton } from "./CopyButton";
import { Logo } from "./Logo";

const COMMAND = "make login";

export function SignIn({ error }: { error: ApiError | null }) {
  const [alone, setAlone] = useState(false);
  const takeOver = async () => {
    setAlone(!(await takeOverSession()));
  };
  return (
    <main class="sign-in" data-testid="login">
      <div class="sign-in-card">
        <Logo />
        <h1>{headline(error)}</h1>
        {error && (
          <p class="sign-in-error" role="alert" data-testid="login-error" data-code={error.code}>
            {error.message} {error.hint}
          </p>
        )}
        <p>In the folder of Switchbox, run</p>
        <div class="sign-in-command">
          <code>{COMMAND}</code>
          <CopyButton text={COMMAND} label="Copy the command" />
        </div>
        <p>and open the link it prints. A link works once, for ten minutes.</p>
        <div class="sign-in-other">
          <button type="button" onClick={() => void takeOver()}>
            Use the session of another tab
          </button>
          <span role="status">{alone ? "No other tab of this browser is signed in." : ""}</span>
        </div>
      </div>
    </main>
  );
}

function headline(error: ApiError | null): string {
  if (error === null) return "Sign in to Switchbox";
  if (error.code === "login.code") return "This link no longer works";
  if (error.code.startsWith("session.")) return "Your session is over";
  return "Signing in did not work";
}
