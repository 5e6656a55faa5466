import { isDeepStrictEqual } from 'node:util';
import { MODEL_NAME } from '../../settings/parsers';
import { type Grant, UNLIMITED } from '../access';
import { CredentialError, readCredential, type Warn } from './credential-file';

const SETTING = 'API_KEYS_FILE';
/** Each request is compared with all of them: 1,000 take about 0.1 ms. */
const MOST_KEYS = 1000;
/** Headers have 16 KiB in all. */
const LONGEST_KEY = 1024;
const KEY = /^[\x21-\x7e]+$/;
const EXPECTED_WORDS =
  'expected nothing after the key, or models=NAME,NAME or models=*, and management, and guard';

const MODELS = 'models=';

/** A key as it is sent, and what it is for. */
export interface ParsedKey {
  readonly key: string;
  readonly grant: Grant;
}

/**
 * The keys of a file: one a line; lines that begin with `#` and empty ones are left out, as is white
 * space around a key. Words after a key say what it is for, and nothing else: `models=NAME,NAME` to ask
 * these models, `models=*` all, `management` to load and unload them, `guard` to ask the guard. A key alone is for everything.
 *
 * @throws Error that names the line, and never quotes it
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
    if (key.length > LONGEST_KEY) {
      throw new Error(`line ${index + 1}: expected at most ${LONGEST_KEY} characters`);
    }
    const grant = grantOf(words);
    if (grant === null) throw new Error(`line ${index + 1}: ${EXPECTED_WORDS}`);
    const known = keys.get(key);
    if (known && !isDeepStrictEqual(known.grant, grant)) {
      throw new Error(`line ${index + 1}: its key is in the file already, for something else`);
    }
    keys.set(key, { key, grant });
  }
  if (keys.size === 0) throw new Error('holds no key');
  if (keys.size > MOST_KEYS) throw new Error(`holds over ${MOST_KEYS} keys`);
  return [...keys.values()];
}

/** @throws CredentialError, which quotes nothing of what the file holds */
export async function readKeys(file: string, warn: Warn): Promise<readonly ParsedKey[]> {
  const text = await readCredential(SETTING, file, warn);
  try {
    return parseKeys(text);
  } catch (error) {
    throw new CredentialError(SETTING, `${file}: ${(error as Error).message}`);
  }
}

/** Null: the words mean nothing. */
function grantOf(words: readonly string[]): Grant | null {
  if (words.length === 0) return UNLIMITED;
  if (new Set(words.map((word) => word.replace(/=.*/s, ''))).size < words.length) return null;
  let models: readonly string[] | null = [];
  let isManaging = false;
  let isGuarding = false;
  for (const word of words) {
    if (word === 'management') isManaging = true;
    else if (word === 'guard') isGuarding = true;
    else if (word === `${MODELS}*`) models = null;
    else if (word.startsWith(MODELS)) {
      models = word.slice(MODELS.length).split(',');
      if (!models.every((name) => MODEL_NAME.pattern.test(name))) return null;
    } else return null;
  }
  return { models, isManaging, ...(isGuarding && { isGuarding }) };
}
