import { messageForClients } from '../../native/unexpected-error';
import { Guard } from './guard';
import { GuardCounters } from './guard-counters';
import type { GuardFile } from './guard-file';

/** What was found of a guard's file. */
export type GuardSource =
  /** There is none. */
  | null
  | { readonly file: GuardFile }
  /** Why it is none, for clients. */
  | { readonly problem: string };

/** The guard of a service: none, one, or one that could not be loaded, while its file may be read again. */
export class GuardState {
  readonly counts = new GuardCounters();
  #guard: Guard | null = null;
  #reason: string | null = null;
  /** Resolves when all files so far are taken; never rejects. */
  #last: Promise<void> = Promise.resolve();

  /** There is a file of a guard, or was one. */
  get isConfigured(): boolean {
    return this.#guard !== null || this.#reason !== null;
  }

  get guard(): Guard | null {
    return this.#guard;
  }

  /** Why there is no guard, or one of an older file; null: it is as its file says. */
  get reason(): string | null {
    return this.#reason;
  }

  /**
   * A file that is wrong leaves what there was. Files are taken one after the other, in the order of the calls:
   * patterns may take longer to compile than those of a file that was read later.
   */
  update(found: GuardSource): Promise<void> {
    this.#last = this.#last.then(() => this.#take(found));
    return this.#last;
  }

  async #take(found: GuardSource): Promise<void> {
    if (found === null) {
      this.#replace(null);
    } else if ('problem' in found) {
      this.#reason = found.problem;
    } else {
      try {
        this.#replace(await Guard.open(found.file, this.counts));
      } catch (error) {
        this.#reason = messageForClients(error);
      }
    }
  }

  /** What the one before has accepted is answered by it, and then it is freed. */
  #replace(guard: Guard | null): void {
    const before = this.#guard;
    [this.#guard, this.#reason] = [guard, null];
    this.counts.keep((guard?.file.checks ?? []).map(({ name }) => name));
    before?.close().catch(() => undefined); // V8 frees it later
  }
}
