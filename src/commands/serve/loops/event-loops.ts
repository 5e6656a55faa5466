import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { duplicateDescriptor } from '../../../native/engine';
import { ConnectionLimit } from '../../../serving/connection-limit';
import type { CredentialValues, Renewal } from '../../../serving/credentials/credentials';
import { alone, type Gather, Peers } from '../../../serving/peers';
import type { Config } from '../../../settings/config';
import type { SharedModel } from '../../../tasks/task-model';
import type { LoopData, Order, Report } from './orders';

/**
 * The event loops beside that of the main thread: threads, each with an HTTP server of its own on the
 * same socket, and all over the one model that the process has loaded. By default there are none.
 */
export class EventLoops {
  readonly gather: Gather;
  /** Of all of them. */
  readonly connectionLimit: ConnectionLimit;
  readonly #threads: readonly LoopThread[];
  readonly #peers: Peers | null;

  /** The threads start at once, beside whatever else goes on; they serve when they are told to. */
  constructor(config: Config, version: string, credentials: CredentialValues) {
    const loops = Array.from({ length: config.eventLoops - 1 }, (_, index) => index + 1);
    const memory = ConnectionLimit.memory(config.eventLoops);
    const data = { config, version, credentials, connections: memory };
    this.#threads = loops.map((loop) => new LoopThread({ loop, ...data }));
    this.#peers = loops.length > 0 ? new Peers(0) : null;
    const shared = this.#peers && { memory, loop: 0, peers: this.#peers };
    this.connectionLimit = new ConnectionLimit(config.maxConnections, shared);
    this.gather = this.#peers?.gather ?? alone;
  }

  /**
   * Resolves when all of them take connections.
   *
   * @param model null: there is none, and one event loop is enough to say so
   * @param descriptor of the socket that listens; it stays the caller's
   */
  async serve(model: SharedModel | null, descriptor: number): Promise<void> {
    if (!model || this.#threads.length === 0) return;
    await this.#all((thread) =>
      thread.order({ type: 'serve', model, descriptor: duplicateDescriptor(descriptor) }),
    );
    // Not before: one that is still starting answers no question.
    const others = this.#threads.length;
    for (const thread of this.#threads) thread.tell({ type: 'join', others });
    this.#peers?.join(others);
  }

  /** Resolves when all of them have what was read again. */
  async renew(renewal: Renewal): Promise<void> {
    await this.#all((thread) => thread.order({ type: 'renew', renewal }));
  }

  /** See `Servers.leave`. */
  leave(): void {
    for (const thread of this.#threads) thread.tell({ type: 'leave' });
  }

  /**
   * Resolves when they have answered everything (`Servers.close`) and left the model.
   *
   * @param spansTimeoutMs how long their last spans may take to be exported
   */
  async close(spansTimeoutMs: number): Promise<void> {
    await this.#all((thread) => thread.order({ type: 'close', spansTimeoutMs }));
  }

  /** When nobody asks for what they have counted any more. */
  end(): void {
    for (const thread of this.#threads) thread.tell({ type: 'end' });
    this.#peers?.close();
  }

  async #all(order: (thread: LoopThread) => Promise<void>): Promise<void> {
    await Promise.all(this.#threads.map(order));
  }
}

class LoopThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  /** Who waits for reports, in the order of their orders. */
  readonly #waiting = new Map<Report, (() => void)[]>();

  constructor(data: LoopData) {
    this.#worker = new Worker(path.join(__dirname, 'thread.js'), { workerData: data });
    // What nobody caught there is what nobody caught here (Shutdown).
    this.#worker.on('error', (error) => {
      throw error;
    });
    this.#worker.on('message', (report: Report) => this.#waiting.get(report)?.shift()?.());
    this.#ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
  }

  tell(order: Order): void {
    this.#worker.postMessage(order);
  }

  /** Resolves when it is done, or the thread has ended. */
  order(order: Order & { readonly type: Report }): Promise<void> {
    const done = new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(order.type) ?? [];
      this.#waiting.set(order.type, [...waiting, resolve]);
    });
    this.tell(order);
    return Promise.race([done, this.#ended]);
  }
}
