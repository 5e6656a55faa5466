import { signal } from '@preact/signals';

/** Key of the session storage, shared with /docs. The browser deletes the entry when the tab closes. */
const STORAGE_KEY = 'libtorch-serve.key';

/** API key that the user entered; null if none. */
export const key = signal<string | null>(stored());
/** The server responded with 401. */
export const isKeyRequired = signal(false);

/** Sends this API key with all further requests. */
export function useKey(entered: string): void {
  key.value = entered;
  isKeyRequired.value = false;
  try {
    sessionStorage.setItem(STORAGE_KEY, entered);
  } catch {
    // If the browser forbids storage, the API key is lost when the page closes.
  }
}

/** Returns whether a text is a valid header value; `fetch` throws on others. */
export function isKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function stored(): string | null {
  try {
    return sessionStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}
