import { z } from 'zod';
import { parseKeys } from '../../serving/credentials/key-file';

/** What TorchServe writes of a key; the time at which it ends is left out. */
const key = z.looseObject({ key: z.string() });

/** `key_file.json`, which TorchServe writes when it starts with token authorization. */
const keyFile = z.looseObject({ management: key, inference: key, API: key.optional() });

export interface ImportedKeys {
  /** The content of API_KEYS_FILE. */
  readonly text: string;
  /** What has become of it, in words without a key. */
  readonly notes: readonly string[];
}

/**
 * TorchServe's keys as ours: that of inference asks all models, that of management loads and unloads them.
 *
 * @param text of key_file.json
 * @throws Error: what is wrong with it, without quoting it
 */
export function translateKeys(text: string): ImportedKeys {
  const parsed = keyFile.safeParse(parse(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = ['keys', ...(issue?.path ?? [])].join('.');
    throw new Error(
      `${place}: expected key_file.json of TorchServe, with the keys of management and inference`,
    );
  }
  const { inference, management, API } = parsed.data;
  const lines = [`${inference.key} models=*`, `${management.key} management`];
  try {
    parseKeys(lines.join('\n'));
  } catch {
    throw new Error('keys: expected two keys of visible ASCII characters without spaces');
  }
  return {
    text: `${lines.join('\n')}\n`,
    notes: [
      'keys: inference, management: do not expire here: change the file, then send SIGHUP',
      ...(API ? ['keys: API: no key is given out over HTTP'] : []),
    ],
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
