import type { Logger } from 'pino';
import { RunError, UsageError } from '../files/file-errors';
import { describeUnexpected } from '../native/unexpected-error';
import { ServiceError } from '../serving/errors';
import { discardOutput } from './batch-output';
import type { BatchStore } from './batch-store';
import { type BatchRecord, isEnded } from './records';
import { type BatchEnvironment, runBatch, StopControl } from './run-batch';

/** Maximum number of batches that run at the same time, so that a large batch does not block all others. */
const MAX_ACTIVE = 4;
/** Time between two searches for expired files, in ms. */
const EXPIRY_CHECK_MS = 60_000;

interface Active {
  readonly control: StopControl;
  readonly ended: Promise<void>;
}

/** Runs unfinished batches in order of creation, a few at a time. */
export class BatchRunner {
  readonly #environment: BatchEnvironment;
  readonly #batches: BatchStore;
  readonly #logger: Logger;
  readonly #active = new Map<string, Active>();
  #expiryTimer: NodeJS.Timeout | null = null;
  #isRunning = false;

  constructor(environment: BatchEnvironment, logger: Logger) {
    this.#environment = environment;
    this.#batches = environment.batches;
    this.#logger = logger;
  }

  /** Starts the batches that an earlier process has not ended, and the deletion of expired files. */
  begin(): void {
    this.#isRunning = true;
    this.#removeExpired();
    this.#expiryTimer = setInterval(() => this.#removeExpired(), EXPIRY_CHECK_MS).unref();
    this.wake();
  }

  /** Starts batches that wait. */
  wake(): void {
    for (const { id } of this.#batches.unfinished) {
      if (this.#active.size >= MAX_ACTIVE) return;
      this.#start(id);
    }
  }

  /**
   * Cancels a batch. Requests that are done keep their results.
   *
   * @throws ServiceError REQUEST_INVALID: the batch has ended, or its files are being completed
   */
  async cancel({ id }: BatchRecord): Promise<BatchRecord> {
    const record = this.#batches.find(id, null) as BatchRecord;
    if (record.status === 'cancelling') return record;
    if (isEnded(record) || record.outcome !== null) {
      const message = `id: a batch with the status "${record.status}" cannot be cancelled`;
      throw new ServiceError('REQUEST_INVALID', message);
    }
    // Before the record is written: the batch must not end otherwise meanwhile.
    this.#active.get(id)?.control.stop('cancelled');
    const cancelling = await this.#batches.setStatus(id, 'cancelling');
    this.#start(id); // if it waits for its turn
    return cancelling;
  }

  /** Interrupts all batches; the next process continues them. */
  async close(): Promise<void> {
    this.#isRunning = false;
    if (this.#expiryTimer) clearInterval(this.#expiryTimer);
    const active = [...this.#active.values()];
    for (const { control } of active) control.stop('shutdown');
    await Promise.all(active.map(({ ended }) => ended));
  }

  #start(id: string): void {
    if (!this.#isRunning || this.#active.has(id)) return;
    const control = new StopControl();
    const ended = this.#run(id, control).finally(() => {
      this.#active.delete(id);
      this.wake();
    });
    this.#active.set(id, { control, ended });
  }

  async #run(id: string, control: StopControl): Promise<void> {
    const startedAt = performance.now();
    try {
      await runBatch(id, this.#environment, control);
    } catch (error) {
      await this.#abandon(id, error);
    }
    const { status, counts } = this.#batches.find(id, null) as BatchRecord;
    const durationMs = Math.round(performance.now() - startedAt);
    const event = control.reason === 'shutdown' ? 'batch interrupted' : 'batch ended';
    this.#logger.info({ batch: id, status, ...counts, durationMs }, event);
  }

  /** Ends a batch whose files cannot be written or read. */
  async #abandon(id: string, error: unknown): Promise<void> {
    // Messages of these errors name files of FILES_DIR, and contain nothing of clients.
    const isOfFile = error instanceof RunError || error instanceof UsageError;
    const fields = isOfFile ? { reason: error.message } : { error: describeUnexpected(error) };
    this.#logger.error({ batch: id, ...fields }, 'batch failed');
    const message = 'The server could not write the results. Search its log for the batch.';
    const problem = { code: 'server_error', message, param: null, line: null };
    try {
      await discardOutput(this.#batches.find(id, null) as BatchRecord, this.#environment);
    } catch (second) {
      this.#logger.error({ batch: id, error: describeUnexpected(second) }, 'batch cleanup failed');
    }
    try {
      await this.#batches.setStatus(id, 'failed', { outcome: 'failed', problems: [problem] });
    } catch (second) {
      // It has failed in memory; the next process runs it again.
      this.#logger.error({ batch: id, error: describeUnexpected(second) }, 'batch record failed');
    }
  }

  #removeExpired(): void {
    const { files } = this.#environment;
    files
      .removeExpired((id) => this.#batches.isInput(id))
      .catch((error) => {
        this.#logger.error({ error: describeUnexpected(error) }, 'deleting expired files failed');
      });
  }
}
