import { BroadcastChannel } from 'node:worker_threads';

const CHANNEL = 'libtorch-serve streams';
/** How long an event loop that does nothing else may take to answer, in ms. */
const ANSWER_TIMEOUT_MS = 2000;

interface Message {
  readonly type: 'question' | 'answer';
  /** That asks. */
  readonly loop: number;
  readonly id: number;
  readonly said: unknown;
}

interface Pending {
  left: number;
  readonly end: (answer: unknown) => void;
}

/**
 * The other event loops of this process, asked for what one of them has: the kernel hands a connection to any of
 * them, also that of a client that comes back.
 */
export class OtherLoops<Question, Answer> {
  readonly #loop: number;
  readonly #others: number;
  readonly #channel = new BroadcastChannel(CHANNEL);
  readonly #answer: (question: Question) => Promise<Answer | null>;
  readonly #pending = new Map<number, Pending>();
  #asked = 0;

  /**
   * @param loop the number of this one @param others how many there are beside it
   * @param answer null: it is not here
   */
  constructor(
    loop: number,
    others: number,
    answer: (question: Question) => Promise<Answer | null>,
  ) {
    this.#loop = loop;
    this.#others = others;
    this.#answer = answer;
    this.#channel.onmessage = (event) => void this.#hear((event as { data: Message }).data);
    this.#channel.unref();
  }

  /** Null: none of them has it. */
  ask(question: Question): Promise<Answer | null> {
    const id = this.#asked++;
    return new Promise((resolve) => {
      const end = (answer: unknown): void => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve(answer as Answer | null);
      };
      const timer = setTimeout(end, ANSWER_TIMEOUT_MS, null).unref();
      this.#pending.set(id, { left: this.#others, end });
      this.#channel.postMessage({ type: 'question', loop: this.#loop, id, said: question });
    });
  }

  close(): void {
    this.#channel.close();
  }

  async #hear({ type, loop, id, said }: Message): Promise<void> {
    if (type === 'question') {
      const answer = await this.#answer(said as Question);
      this.#channel.postMessage({ type: 'answer', loop, id, said: answer });
      return;
    }
    const pending = loop === this.#loop ? this.#pending.get(id) : undefined;
    if (!pending) return;
    pending.left--;
    if (said !== null || pending.left === 0) pending.end(said);
  }
}
