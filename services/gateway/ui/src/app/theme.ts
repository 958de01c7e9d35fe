/** Light, dark, or as the system has it. Only the choice is kept, in this browser. */
import { signal } from "@preact/signals";

const KEY = "switchbox.theme";

export type Theme = "system" | "light" | "dark";

export const theme = signal<Theme>(readTheme(localStorage.getItem(KEY)));

export function readTheme(stored: string | null): Theme {
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Shows the theme that was chosen. */
export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.value;
}

/** Goes to the other of light and dark, as they are now seen. */
export function toggleTheme(): void {
  theme.value = isDark() ? "light" : "dark";
  localStorage.setItem(KEY, theme.value);
  applyTheme();
}

export function isDark(): boolean {
  if (theme.value !== "system") return theme.value === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}
