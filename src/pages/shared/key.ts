import { signal } from '@preact/signals';

/** Shared with the page at /docs. It is forgotten with the tab. */
const NAME = 'libtorch-serve.key';

/** null: none was entered. */
export const key = signal<string | null>(stored());
/** The service has answered 401. */
export const isKeyAsked = signal(false);

/** From now on every request has it. */
export function useKey(entered: string): void {
  key.value = entered;
  isKeyAsked.value = false;
  try {
    sessionStorage.setItem(NAME, entered);
  } catch {
    // Storage can be forbidden: the key then lasts until the page is left.
  }
}

/** What a key can be; anything else would make `fetch` fail. */
export function isKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function stored(): string | null {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}
