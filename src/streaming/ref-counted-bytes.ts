/** Bytes of what streams share by a key: they count once, for as long as one of them has it. */
export class RefCountedBytes {
  readonly #users = new Map<string, number>();

  /** One more has it. @returns bytes that are held for it now and were not before */
  add(key: string, bytes: number): number {
    const users = this.#users.get(key) ?? 0;
    this.#users.set(key, users + 1);
    return users === 0 ? bytes : 0;
  }

  /** One has it no more. @returns bytes that are not held any more */
  remove(key: string, bytes: number): number {
    const users = (this.#users.get(key) ?? 0) - 1;
    if (users > 0) this.#users.set(key, users);
    else this.#users.delete(key);
    return users > 0 ? 0 : bytes;
  }
}
