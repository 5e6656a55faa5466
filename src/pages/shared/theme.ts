export type Theme = 'light' | 'dark';

const KEY = 'libtorch-serve.theme';

/** What the switch was last set to; null: what the system asks for. */
export function readTheme(): Theme | null {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : null;
  } catch {
    return null; // storage can be forbidden
  }
}

export function writeTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice then lasts until the page is left.
  }
  applyTheme(theme);
}

export function applyTheme(theme: Theme | null): void {
  if (theme !== null) document.documentElement.dataset.theme = theme;
}

/** What is shown now. */
export function shownTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
