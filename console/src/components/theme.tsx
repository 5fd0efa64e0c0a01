// Light or dark: as the system has it, or as somebody has chosen here.

import type { JSX, TargetedEvent } from "preact";
import { useState } from "preact/hooks";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const KEPT = "htm-theme";

function kept(): Theme {
  return THEMES.find((theme) => theme === localStorage.getItem(KEPT)) ?? "system";
}

export function applyTheme(theme: Theme = kept()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function ThemePicker(): JSX.Element {
  const [theme, setTheme] = useState(kept);
  const choose = (event: TargetedEvent<HTMLSelectElement>): void => {
    const chosen = THEMES.find((theme) => theme === event.currentTarget.value) ?? "system";
    localStorage.setItem(KEPT, chosen);
    applyTheme(chosen);
    setTheme(chosen);
  };
  return (
    <label>
      <span class="hidden-label">Theme</span>
      <select class="input" value={theme} onChange={choose}>
        <option value="system">System theme</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
