import type { Response } from 'express';
import type { Connections } from '../serving/connections';
import { ServiceError } from '../serving/errors';
import { LOOK_MS, STILL_LOOKS } from '../serving/patience';
import type { AnswersDue } from './answers-due';
import { exchangeOf } from './exchange';

interface Seen {
  /** Of its connection. */
  readonly bytesRead: number;
  /** In which nothing came. */
  readonly looks: number;
}

/**
 * What a server that drains waits for: a body that stands still is given up, so that one client cannot
 * hold up the end, and when the time is over whatever waits for its client.
 */
export class StalledRequests {
  readonly #due: AnswersDue;
  readonly #connections: Connections;
  readonly #until: number;
  readonly #timer: NodeJS.Timeout;
  readonly #seen = new WeakMap<Response, Seen>();

  constructor(due: AnswersDue, connections: Connections, patienceMs: number) {
    this.#due = due;
    this.#connections = connections;
    this.#until = performance.now() + patienceMs;
    this.#timer = setInterval(this.#look, LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  readonly #look = (): void => {
    const isTimeUp = performance.now() >= this.#until;
    for (const response of this.#due.next) {
      const isIncomplete = !response.req.complete && !response.headersSent;
      if (isIncomplete && (this.#standsStill(response) || isTimeUp)) {
        exchangeOf(response).fail(new ServiceError('DRAINING', 'The service is shutting down.'));
      } else if (isTimeUp && response.writableEnded) {
        this.#connections.cut(response.req.socket, 'answer_stuck');
      }
    }
  };

  #standsStill(response: Response): boolean {
    const { req } = response;
    if (!req.readableFlowing) return false; // it is the service that does not read
    const { bytesRead } = req.socket;
    const seen = this.#seen.get(response);
    const looks = seen?.bytesRead === bytesRead ? seen.looks + 1 : 0;
    this.#seen.set(response, { bytesRead, looks });
    return looks >= STILL_LOOKS;
  }
}
