import { ModelFileError } from '../files';
import { quoted } from '../json';

/**
 * Handling of a key that the reference library reads. Null and missing keys always mean the
 * default.
 */
export type KeyUse =
  /** The key has the same effect as in the reference library. */
  | { readonly use: 'honored' }
  /** Only the values in `accepts` are supported. Models with other values are rejected. */
  | { readonly use: 'rejected'; readonly accepts: readonly unknown[]; readonly fix: string }
  /** No value of the key changes results. */
  | { readonly use: 'no effect'; readonly why: string }
  /** Alternative name of the key `of`. Different values are rejected. */
  | { readonly use: 'alias'; readonly of: string }
  /** Nested object of keys. */
  | { readonly use: 'object'; readonly keys: KeyTable };

export interface KeyTable {
  readonly keys: Readonly<Record<string, KeyUse>>;
  /**
   * Handling of unknown keys in the reference library: ignored, or rejected as unknown arguments.
   */
  readonly unknownKeys: 'ignored' | 'rejected';
}

export const honored: KeyUse = { use: 'honored' };

export const noEffect = (why: string): KeyUse => ({ use: 'no effect', why });

/** Accepts only the listed values and null. */
export const only = (accepts: readonly unknown[], fix: string): KeyUse => {
  return { use: 'rejected', accepts, fix };
};

export const alias = (of: string): KeyUse => ({ use: 'alias', of });

export const object = (
  keys: Readonly<Record<string, KeyUse>>,
  unknownKeys: KeyTable['unknownKeys'],
): KeyUse => {
  return { use: 'object', keys: { keys, unknownKeys } };
};

/** Assigns one handling to several keys. */
export function each(names: readonly string[], use: KeyUse): Readonly<Record<string, KeyUse>> {
  return Object.fromEntries(names.map((name) => [name, use]));
}

/**
 * Rejects keys that change results in the reference library but not in this server.
 *
 * @param file start of the error message
 * @throws ModelFileError that names the key
 */
export function checkKeys({ keys, unknownKeys }: KeyTable, file: string, content: unknown): void {
  checkObject({ keys, unknownKeys }, `${file}: `, content);
}

function checkObject({ keys, unknownKeys }: KeyTable, path: string, content: unknown): void {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return;
  for (const [key, value] of Object.entries(content)) {
    if (value === null) continue;
    const use = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (use?.use === 'alias') requireSame(path + key, value, [use.of, content]);
    else if (use !== undefined) checkValue(use, path + key, value);
    else if (unknownKeys === 'rejected') {
      throw new ModelFileError(`${path}${key}: is not supported. Remove it`);
    }
  }
}

function requireSame(
  path: string,
  value: unknown,
  [key, content]: readonly [string, object],
): void {
  const own = (content as Readonly<Record<string, unknown>>)[key];
  if (own === value) return;
  const found = `${quoted(value)} and ${own === undefined ? 'none' : quoted(own)}`;
  throw new ModelFileError(`${path}: expected the same as ${key}, received ${found}. Remove it`);
}

function checkValue(use: KeyUse, path: string, value: unknown): void {
  if (use.use === 'object') checkObject(use.keys, `${path}.`, value);
  if (use.use !== 'rejected') return;
  const given = JSON.stringify(value);
  if (use.accepts.some((accepted) => JSON.stringify(accepted) === given)) return;
  const expected = use.accepts.map(quoted).join(' or ') || 'none';
  throw new ModelFileError(`${path}: expected ${expected}, received ${quoted(value)}. ${use.fix}`);
}
