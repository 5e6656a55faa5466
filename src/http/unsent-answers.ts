import type { Response } from 'express';
import { ByteBudget } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { CLIENT_TIMEOUT_MS } from '../serving/patience';

/** Answers that the kernel has not taken yet, because their clients read slowly or not at all. */
export class UnsentAnswers {
  readonly #budget: ByteBudget<Response>;
  readonly #cut: (response: Response) => boolean;

  /** @param memory most bytes of all of them; beyond it, who has been at it for longest is cut off */
  constructor(memory: number, connections: Connections) {
    this.#cut = ({ req }) => connections.cut(req.socket, 'answer_stuck');
    this.#budget = new ByteBudget({ limit: memory, patienceMs: 0, cut: this.#cut });
  }

  /** To be told of every answer that has been written. */
  written(response: Response): void {
    const bytes = response.writableLength;
    if (bytes === 0) return; // in the kernel: nearly all are
    if (!this.#budget.hasRoomFor(bytes)) {
      this.#cut(response);
      return;
    }
    this.#budget.begin(response, bytes);
    const timer = setTimeout(this.#cut, CLIENT_TIMEOUT_MS, response).unref();
    response.on('close', () => {
      clearTimeout(timer);
      this.#budget.end(response);
    });
  }
}
