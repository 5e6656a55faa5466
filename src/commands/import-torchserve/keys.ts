import { z } from 'zod';
import { parseKeys } from '../../serving/credentials/key-file';

/** A key in key_file.json, without its expiry time. */
const key = z.looseObject({ key: z.string() });

/** `key_file.json`, which TorchServe writes at the start with token authorization. */
const keyFile = z.looseObject({ management: key, inference: key, API: key.optional() });

export interface ImportedKeys {
  /** Content of API_KEYS_FILE. */
  readonly text: string;
  /** Notes on the conversion, without keys. */
  readonly notes: readonly string[];
}

/**
 * Converts TorchServe's keys: the inference key has access to all models, the management key to the management API.
 *
 * @param text content of key_file.json
 * @throws Error: invalid content; the message does not quote it
 */
export function translateKeys(text: string): ImportedKeys {
  const parsed = keyFile.safeParse(parse(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = ['keys', ...(issue?.path ?? [])].join('.');
    throw new Error(
      `${field}: expected key_file.json of TorchServe, with the keys of management and inference`,
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
      'keys.inference, keys.management: keys do not expire here. To rotate a key, edit the file, then send SIGHUP',
      ...(API ? ['keys.API: ignored, because this server has no HTTP API that issues keys'] : []),
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
