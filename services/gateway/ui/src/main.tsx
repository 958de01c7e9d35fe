/** Where the page begins. The code of a login link leaves the address bar before anything else runs. */
import { render } from "preact";
import "./styles/index.css";
import { applyTheme } from "./app/theme";
import { startSession, takeLoginCode } from "./session/session";
import { App } from "./views/App";

const code = takeLoginCode(window.location, window.history);
applyTheme();
void startSession(code);

const root = document.getElementById("app");
if (root) render(<App />, root);
