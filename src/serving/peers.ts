import { BroadcastChannel } from 'node:worker_threads';

/** What the event loops of the process say of a topic. */
export interface Gathered<T> {
  /** This one's first. Of one that is silent: what it said last, where it has said anything. */
  readonly values: readonly T[];
  /** Event loops that did not answer in time. */
  readonly silent: number;
}

/**
 * Registers what this event loop says of a topic. What it returns asks all loops of the process; it
 * takes `ANSWER_TIMEOUT_MS` at most.
 */
export type Gather = <T>(topic: string, own: () => T) => () => Promise<Gathered<T>>;

/** Where there is one event loop. */
export const alone: Gather = (_topic, own) => async () => ({ values: [own()], silent: 0 });

/** Half of what Prometheus gives a scrape by default. */
const ANSWER_TIMEOUT_MS = 5000;

const CHANNEL = 'libtorch-serve event loops';

type Message = Saying | Notice;

/** Either says what the loop that sends it has to say. */
interface Saying {
  readonly type: 'question' | 'answer';
  readonly id: string;
  readonly topic: string;
  /** That sends it. */
  readonly loop: number;
  readonly value: unknown;
}

interface Notice {
  readonly type: 'notice';
  readonly topic: string;
  /** That it is for. */
  readonly loop: number;
}

interface Question {
  /** Event loops that have not answered yet. */
  silent: number;
  readonly end: () => void;
}

/** The other event loops of this process: they are asked what they have counted, and told of what is theirs to do. */
export class Peers {
  readonly #loop: number;
  readonly #channel = new BroadcastChannel(CHANNEL);
  readonly #topics = new Map<string, () => unknown>();
  readonly #questions = new Map<string, Question>();
  /**
   * What each other loop said last, by topic. All loops hear each question and answer, whoever asked, so
   * that no sum goes down when a loop falls silent and another one is asked next.
   */
  readonly #heard = new Map<string, Map<number, unknown>>();
  readonly #notices = new Map<string, () => void>();
  #others = 0;
  #asked = 0;

  /** @param loop the number of this one */
  constructor(loop: number) {
    this.#loop = loop;
    this.#channel.onmessage = (event) => this.#hear((event as { readonly data: Message }).data);
    this.#channel.unref();
  }

  /** From now on others are asked, too: so many. */
  join(others: number): void {
    this.#others = others;
  }

  readonly gather: Gather = <T>(topic: string, own: () => T) => {
    this.#topics.set(topic, own);
    this.#heard.set(topic, new Map());
    return async () => {
      const value = own();
      const silent = await this.#ask(topic, value);
      return { values: [value, ...((this.#heard.get(topic)?.values() ?? []) as T[])], silent };
    };
  };

  /** Tells one of the others. */
  notify(loop: number, topic: string): void {
    this.#say({ type: 'notice', topic, loop });
  }

  /** What to do when another one tells this one. */
  onNotice(topic: string, act: () => void): void {
    this.#notices.set(topic, act);
  }

  close(): void {
    this.#channel.close();
  }

  /** Resolves with the number of those that have not answered when the time is over. */
  #ask(topic: string, value: unknown): Promise<number> {
    if (this.#others === 0) return Promise.resolve(0);
    const id = `${this.#loop}:${this.#asked++}`;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#questions.delete(id);
        resolve(question.silent);
      };
      const question = { silent: this.#others, end };
      const timer = setTimeout(end, ANSWER_TIMEOUT_MS).unref();
      this.#questions.set(id, question);
      this.#say({ type: 'question', id, topic, loop: this.#loop, value });
    });
  }

  #hear(message: Message): void {
    if (message.type === 'notice') {
      if (message.loop === this.#loop) this.#notices.get(message.topic)?.();
      return;
    }
    const { type, id, topic, loop } = message;
    this.#heard.get(topic)?.set(loop, message.value);
    if (type === 'question') {
      const value = this.#topics.get(topic)?.();
      this.#say({ type: 'answer', id, topic, loop: this.#loop, value });
      return;
    }
    const question = this.#questions.get(id);
    if (question && --question.silent === 0) question.end(); // else another loop's, or too late
  }

  #say(message: Message): void {
    this.#channel.postMessage(message);
  }
}
