import { BroadcastChannel } from 'node:worker_threads';

/**
 * Registers what this event loop says of a topic. What it returns asks all loops of the process, and
 * resolves to what each said, this one first.
 */
export type Gather = <T>(topic: string, own: () => T) => () => Promise<readonly T[]>;

/** Where there is one event loop. */
export const alone: Gather = (_topic, own) => async () => [own()];

const CHANNEL = 'libtorch-serve event loops';

type Message =
  | { readonly type: 'question'; readonly id: string; readonly topic: string }
  | { readonly type: 'answer'; readonly id: string; readonly value: unknown };

interface Question {
  readonly values: unknown[];
  readonly resolve: (values: unknown[]) => void;
}

/** The other event loops of this process, which are asked what they have counted. */
export class Peers {
  readonly #name: string;
  readonly #channel = new BroadcastChannel(CHANNEL);
  readonly #topics = new Map<string, () => unknown>();
  readonly #questions = new Map<string, Question>();
  #others = 0;
  #asked = 0;

  /** @param loop the number of this one */
  constructor(loop: number) {
    this.#name = String(loop);
    this.#channel.onmessage = (event) => this.#hear((event as { readonly data: Message }).data);
    this.#channel.unref();
  }

  /** From now on others are asked, too: so many, each of which answers until nobody asks any more. */
  join(others: number): void {
    this.#others = others;
  }

  readonly gather: Gather = <T>(topic: string, own: () => T) => {
    this.#topics.set(topic, own);
    return async () => [own(), ...((await this.#ask(topic)) as T[])];
  };

  close(): void {
    this.#channel.close();
  }

  #ask(topic: string): Promise<unknown[]> {
    if (this.#others === 0) return Promise.resolve([]);
    const id = `${this.#name}:${this.#asked++}`;
    return new Promise((resolve) => {
      this.#questions.set(id, { values: [], resolve });
      this.#say({ type: 'question', id, topic });
    });
  }

  #hear(message: Message): void {
    if (message.type === 'question') {
      const value = this.#topics.get(message.topic)?.();
      this.#say({ type: 'answer', id: message.id, value });
      return;
    }
    const question = this.#questions.get(message.id);
    if (!question) return; // another loop's
    question.values.push(message.value);
    if (question.values.length < this.#others) return;
    this.#questions.delete(message.id);
    question.resolve(question.values);
  }

  #say(message: Message): void {
    this.#channel.postMessage(message);
  }
}
