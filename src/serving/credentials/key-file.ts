import { isDeepStrictEqual } from 'node:util';
import { MODEL_NAME } from '../../settings/parsers';
import { type Grant, UNLIMITED_GRANT } from '../access';
import { CredentialError, readCredential, type Warn } from './credential-file';

const SETTING = 'API_KEYS_FILE';
/** Maximum number of keys. Each request is compared with all keys: 1,000 take about 0.1 ms. */
const MAX_KEYS = 1000;
/** Maximum length of a key, below the total header limit of 16 KiB. */
const MAX_KEY_LENGTH = 1024;
const KEY = /^[\x21-\x7e]+$/;
const EXPECTED_SCOPES =
  'expected no scope after the key, or models=NAME,NAME or models=*, management, guard';

const MODELS = 'models=';

/** API key with its scope. */
export interface ParsedKey {
  readonly key: string;
  readonly grant: Grant;
}

/**
 * Parses a file of API keys, one per line. Ignores empty lines, lines that start with `#`, and white space around keys.
 * Scopes after a key restrict it: `models=NAME,NAME` or `models=*` for inference, `management` to load and unload models,
 * `guard` for the guardrail. A key without scopes has all permissions.
 *
 * @throws Error with the line number; the message does not quote the line
 */
export function parseKeys(text: string): readonly ParsedKey[] {
  const keys = new Map<string, ParsedKey>();
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const [key = '', ...words] = line.trim().split(/[ \t]+/);
    if (key === '' || key.startsWith('#')) continue;
    if (!KEY.test(key)) {
      throw new Error(
        `line ${index + 1}: expected a key of visible ASCII characters without spaces`,
      );
    }
    if (key.length > MAX_KEY_LENGTH) {
      throw new Error(`line ${index + 1}: expected at most ${MAX_KEY_LENGTH} characters`);
    }
    const grant = parseGrant(words);
    if (grant === null) throw new Error(`line ${index + 1}: ${EXPECTED_SCOPES}`);
    const existing = keys.get(key);
    if (existing && !isDeepStrictEqual(existing.grant, grant)) {
      throw new Error(`line ${index + 1}: duplicate key with a different scope`);
    }
    keys.set(key, { key, grant });
  }
  if (keys.size === 0) throw new Error('contains no key');
  if (keys.size > MAX_KEYS) throw new Error(`contains more than ${MAX_KEYS} keys`);
  return [...keys.values()];
}

/** Reads a file of API keys. @throws CredentialError, which does not quote the file */
export async function readKeys(file: string, warn: Warn): Promise<readonly ParsedKey[]> {
  const text = await readCredential(SETTING, file, warn);
  try {
    return parseKeys(text);
  } catch (error) {
    throw new CredentialError(SETTING, `${file}: ${(error as Error).message}`);
  }
}

/** Parses the scopes of a key; null if invalid. */
function parseGrant(words: readonly string[]): Grant | null {
  if (words.length === 0) return UNLIMITED_GRANT;
  if (new Set(words.map((word) => word.replace(/=.*/s, ''))).size < words.length) return null;
  let models: readonly string[] | null = [];
  let canManage = false;
  let canUseGuard = false;
  for (const word of words) {
    if (word === 'management') canManage = true;
    else if (word === 'guard') canUseGuard = true;
    else if (word === `${MODELS}*`) models = null;
    else if (word.startsWith(MODELS)) {
      models = word.slice(MODELS.length).split(',');
      if (!models.every((name) => MODEL_NAME.pattern.test(name))) return null;
    } else return null;
  }
  return { models, canManage, ...(canUseGuard && { canUseGuard }) };
}
