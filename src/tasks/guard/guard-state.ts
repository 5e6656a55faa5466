import { messageForClients } from '../../native/unexpected-error';
import { Guard } from './guard';
import { GuardCounters } from './guard-counters';
import type { GuardFile } from './guard-file';

/** Result of reading the policy file. */
export type GuardSource =
  /** The file does not exist. */
  | null
  | { readonly file: GuardFile }
  /** Reason why the file is invalid, for clients. */
  | { readonly problem: string };

/** Current guardrail of a service. Replaced when the policy file changes. */
export class GuardState {
  readonly counts = new GuardCounters();
  #guard: Guard | null = null;
  #reason: string | null = null;
  /** Resolves when all updates so far are applied; never rejects. */
  #last: Promise<void> = Promise.resolve();

  /** Whether a policy file exists or existed. */
  get isConfigured(): boolean {
    return this.#guard !== null || this.#reason !== null;
  }

  get guard(): Guard | null {
    return this.#guard;
  }

  /** Reason why the guardrail is missing or outdated; null: the guardrail matches its file. */
  get reason(): string | null {
    return this.#reason;
  }

  /**
   * Applies a policy file. An invalid file keeps the current guardrail. Updates are applied in call
   * order, because patterns of an earlier file may compile longer than patterns of a later file.
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

  /**
   * Replaces the guardrail. The previous guardrail finishes its accepted requests before it is
   * closed.
   */
  #replace(guard: Guard | null): void {
    const before = this.#guard;
    [this.#guard, this.#reason] = [guard, null];
    this.counts.keep((guard?.file.checks ?? []).map(({ name }) => name));
    before?.close().catch(() => undefined); // V8 releases it later
  }
}
