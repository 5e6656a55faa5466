import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const HEADER = 'authorization';
const BEARER = /^bearer +([\x21-\x7e]+)$/i;

/** SHA-256 of a key. */
export type KeyDigest = Uint8Array;

/** The keys that may ask. Kept as digests, so that all have one length and none can be read here. */
export class ApiKeys {
  #digests: readonly KeyDigest[];

  constructor(digests: readonly KeyDigest[]) {
    this.#digests = digests;
  }

  get size(): number {
    return this.#digests.length;
  }

  /** From now on these, and no others. */
  replace(digests: readonly KeyDigest[]): void {
    this.#digests = digests;
  }

  /** Takes as long for any key: it is compared with all of them, also once one was equal. */
  has(key: string): boolean {
    const digest = digestOf(key);
    let isKnown = false;
    for (const known of this.#digests) isKnown = timingSafeEqual(known, digest) || isKnown;
    return isKnown;
  }
}

/** The key of the one value that the header has; null: there is none, or more than one. */
export function keyOfValues(values: readonly unknown[]): string | null {
  const [value, ...others] = values;
  return (others.length === 0 && BEARER.exec(String(value ?? ''))?.[1]) || null;
}

/**
 * The key of `Authorization: Bearer KEY`; null: there is none, or more than one header, of which Node
 * would show the first and a proxy may have looked at another.
 */
export function keyOf({ headers, rawHeaders }: IncomingMessage): string | null {
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

export function digestOf(key: string): KeyDigest {
  return createHash('sha256').update(key).digest();
}
