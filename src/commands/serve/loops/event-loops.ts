import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { addon } from '../../../native/engine';
import { ConnectionLimit } from '../../../serving/connection-limit';
import type { CredentialValues, Renewal } from '../../../serving/credentials/credentials';
import { alone, type Gather, Peers } from '../../../serving/peers';
import type { Config } from '../../../settings/config';
import type { Repository } from '../../../tasks/repository';
import { answerQuestion, type Question } from '../models/remote-repository';
import type { SharedModels, SharedService } from '../service';
import type { LoopData, Order } from './thread';

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
   * @param service null: there is no model, and one event loop is enough to say so
   * @param descriptor of the socket that listens; it stays the caller's
   */
  async serve(service: SharedService | null, descriptor: number): Promise<void> {
    if (!service || this.#threads.length === 0) return;
    await this.#all(() => ['serve', service, addon().duplicateDescriptor(descriptor)]);
    // Not before: one that is still starting answers no question.
    const others = this.#threads.length;
    void this.#all(() => ['join', others]);
    this.#peers?.join(others);
  }

  /** Resolves when all of them serve these models and this guard, and use no others any more. */
  async show(models: SharedModels): Promise<void> {
    await this.#all(() => ['show', models]);
  }

  /** Of the process, for clients of the other event loops. */
  set repository(repository: Repository) {
    for (const thread of this.#threads) thread.repository = repository;
  }

  /** Resolves when all of them have what was read again. */
  async renew(renewal: Renewal): Promise<void> {
    await this.#all(() => ['renew', renewal]);
  }

  /** See `Servers.leave`. */
  leave(): void {
    void this.#all(() => ['leave']);
  }

  /**
   * Resolves when they have answered everything (`Servers.close`) and left the model.
   *
   * @param spansTimeoutMs how long their last spans may take to be exported
   */
  async close(spansTimeoutMs: number): Promise<void> {
    await this.#all(() => ['close', spansTimeoutMs]);
  }

  /** When nobody asks for what they have counted any more. */
  end(): void {
    void this.#all(() => ['end']);
    this.#peers?.close();
  }

  /** Resolves when all have done what is ordered: `order` makes it for each. */
  async #all(order: () => Order): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.order(order())));
  }
}

class LoopThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  repository: Repository | null = null;
  /** Who waits, in the order of their orders. */
  readonly #waiting: (() => void)[] = [];

  constructor(data: LoopData) {
    this.#worker = new Worker(path.join(__dirname, 'thread.js'), { workerData: data });
    // What nobody caught there is what nobody caught here (Shutdown).
    this.#worker.on('error', (error) => {
      throw error;
    });
    this.#worker.on('message', (message: Question | null) => {
      if (message === null) this.#waiting.shift()?.();
      else
        void answerQuestion(this.repository, message, (order) => this.#worker.postMessage(order));
    });
    this.#ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
  }

  /** Resolves when it is done, or the thread has ended. */
  order(order: Order): Promise<void> {
    const done = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#worker.postMessage(order);
    return Promise.race([done, this.#ended]);
  }
}
