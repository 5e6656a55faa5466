import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Grant } from '../access';

const HEADER = 'authorization';
const BEARER = /^bearer +([\x21-\x7e]+)$/i;

/** API key and its scope. */
export interface KeyEntry {
  /** SHA-256 of the key. */
  readonly digest: Uint8Array;
  readonly grant: Grant;
}

/** Valid API keys, stored as digests of equal length. */
export class ApiKeys {
  #keys: readonly KeyEntry[];

  constructor(keys: readonly KeyEntry[]) {
    this.#keys = keys;
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Replaces all keys. */
  replace(keys: readonly KeyEntry[]): void {
    this.#keys = keys;
  }

  /**
   * Returns the scope of a key; null if unknown. Runs in constant time: the key is compared with all keys, even after
   * a match.
   */
  find(key: string): Grant | null {
    return this.findDigest(digestOf(key));
  }

  /** `find` by the SHA-256 of the key. */
  findDigest(digest: Uint8Array): Grant | null {
    let match: Grant | null = null;
    for (const entry of this.#keys)
      match = timingSafeEqual(entry.digest, digest) ? entry.grant : match;
    return match;
  }
}

/** Returns the key of an Authorization header; null if missing, repeated or malformed. */
export function bearerKeyOfValues(values: readonly unknown[]): string | null {
  const [value, ...rest] = values;
  return (rest.length === 0 && BEARER.exec(String(value ?? ''))?.[1]) || null;
}

/**
 * Returns the key of `Authorization: Bearer KEY`; null if missing, repeated or malformed. Of repeated headers Node.js
 * returns the first, but a proxy may have checked another one.
 */
export function bearerKeyOf({ headers, rawHeaders }: IncomingMessage): string | null {
  const key = BEARER.exec(headers.authorization ?? '')?.[1];
  return key !== undefined && countHeader(rawHeaders) === 1 ? key : null;
}

/** Counts Authorization headers. @param rawHeaders alternating names and values */
function countHeader(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === HEADER.length && name.toLowerCase() === HEADER) count++;
  }
  return count;
}

export function digestOf(key: string): Uint8Array {
  return createHash('sha256').update(key).digest();
}
