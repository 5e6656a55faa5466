import { signal } from '@preact/signals';

export type Theme = 'light' | 'dark';

const KEY = 'libtorch-serve.theme';
const darkIsAsked = matchMedia('(prefers-color-scheme: dark)');

/** What is shown now. */
export const theme = signal<Theme>(chosen() ?? asked());

/** Shows it, and follows the system for as long as nobody has used the switch. */
export function startTheme(): void {
  show(theme.value);
  darkIsAsked.addEventListener('change', () => {
    if (chosen() === null) show(asked());
  });
}

export function switchTheme(): void {
  const other = theme.value === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(KEY, other);
  } catch {
    // Storage can be forbidden: the choice then lasts until the page is left.
  }
  show(other);
}

function show(next: Theme): void {
  theme.value = next;
  document.documentElement.dataset.theme = next;
}

function asked(): Theme {
  return darkIsAsked.matches ? 'dark' : 'light';
}

/** What the switch was last set to, or null. */
function chosen(): Theme | null {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : null;
  } catch {
    return null;
  }
}
