import { signal } from '@preact/signals';

export type Theme = 'light' | 'dark';

const STORAGE_KEY = 'libtorch-serve.theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

/** Current theme. */
export const theme = signal<Theme>(storedTheme() ?? systemTheme());

/** Applies the theme, and follows the system's theme until the user chooses a theme. */
export function startTheme(): void {
  apply(theme.value);
  prefersDark.addEventListener('change', () => {
    if (storedTheme() === null) apply(systemTheme());
  });
}

export function switchTheme(): void {
  const next = theme.value === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(STORAGE_KEY, next);
  } catch {
    // If the browser forbids storage, the choice is lost when the page closes.
  }
  apply(next);
}

function apply(next: Theme): void {
  theme.value = next;
  document.documentElement.dataset.theme = next;
}

function systemTheme(): Theme {
  return prefersDark.matches ? 'dark' : 'light';
}

/** Theme that the user chose; null if none. */
function storedTheme(): Theme | null {
  try {
    const stored = localStorage.getItem(STORAGE_KEY);
    return stored === 'light' || stored === 'dark' ? stored : null;
  } catch {
    return null;
  }
}
