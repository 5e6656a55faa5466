import { CredentialError, readCredential, type Warn } from './files';

const SETTING = 'API_KEYS_FILE';
/** Each request is compared with all of them: 1,000 take about 0.1 ms. */
const MOST_KEYS = 1000;
/** Headers have 16 KiB in all. */
const LONGEST_KEY = 1024;
const KEY = /^[\x21-\x7e]+$/;

/**
 * The keys of a file: one a line; lines that begin with `#` and empty ones are left out, as is white
 * space around a key.
 *
 * @throws Error that names the line, and never quotes it
 */
export function parseKeys(text: string): readonly string[] {
  const keys = new Set<string>();
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const key = line.trim();
    if (key === '' || key.startsWith('#')) continue;
    if (!KEY.test(key)) {
      throw new Error(
        `line ${index + 1}: expected a key of visible ASCII characters without spaces`,
      );
    }
    if (key.length > LONGEST_KEY) {
      throw new Error(`line ${index + 1}: expected at most ${LONGEST_KEY} characters`);
    }
    keys.add(key);
  }
  if (keys.size === 0) throw new Error('holds no key');
  if (keys.size > MOST_KEYS) throw new Error(`holds over ${MOST_KEYS} keys`);
  return [...keys];
}

/** @throws CredentialError, which quotes nothing of what the file holds */
export async function readKeys(file: string, warn: Warn): Promise<readonly string[]> {
  const text = await readCredential(SETTING, file, warn);
  try {
    return parseKeys(text);
  } catch (error) {
    throw new CredentialError(SETTING, `${file}: ${(error as Error).message}`);
  }
}
