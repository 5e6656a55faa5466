import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Grant } from '../access';

const HEADER = 'authorization';
const BEARER = /^bearer +([\x21-\x7e]+)$/i;

/** A key, and what it is for. */
export interface KeyEntry {
  /** SHA-256. */
  readonly digest: Uint8Array;
  readonly grant: Grant;
}

/** The keys that may ask. Kept as digests, so that all have one length and none can be read here. */
export class ApiKeys {
  #keys: readonly KeyEntry[];

  constructor(keys: readonly KeyEntry[]) {
    this.#keys = keys;
  }

  get size(): number {
    return this.#keys.length;
  }

  /** From now on these, and no others. */
  replace(keys: readonly KeyEntry[]): void {
    this.#keys = keys;
  }

  /**
   * What a key is for; null: it is not known. Takes as long for any key: it is compared with all of them,
   * also once one was equal.
   */
  find(key: string): Grant | null {
    const digest = digestOf(key);
    let found: Grant | null = null;
    for (const known of this.#keys)
      found = timingSafeEqual(known.digest, digest) ? known.grant : found;
    return found;
  }
}

/** The key of the one value that the header has; null: there is none, or more than one. */
export function bearerKeyOfValues(values: readonly unknown[]): string | null {
  const [value, ...others] = values;
  return (others.length === 0 && BEARER.exec(String(value ?? ''))?.[1]) || null;
}

/**
 * The key of `Authorization: Bearer KEY`; null: there is none, or more than one header, of which Node
 * would show the first and a proxy may have looked at another.
 */
export function bearerKeyOf({ headers, rawHeaders }: IncomingMessage): string | null {
  const key = BEARER.exec(headers.authorization ?? '')?.[1];
  return key !== undefined && countHeader(rawHeaders) === 1 ? key : null;
}

/** @param rawHeaders names and values in turn */
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
