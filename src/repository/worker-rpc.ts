/** What is asked of another thread, and what it says, by a number. */
export interface Numbered {
  readonly id: number;
}

export interface Reply<Content> extends Numbered {
  readonly content: Content;
  /** Null: there is none. */
  readonly problem: string | null;
}

/** Questions to another thread that are not answered yet. */
export class Questions<Question extends Numbered, Content> {
  readonly #send: (question: Question) => void;
  readonly #toError: (problem: string) => Error;
  readonly #waiting = new Map<number, (reply: Reply<Content>) => void>();
  #last = 0;

  /** @param toError what is thrown of a problem */
  constructor(send: (question: Question) => void, toError: (problem: string) => Error) {
    this.#send = send;
    this.#toError = toError;
  }

  async ask(question: Omit<Question, 'id'>): Promise<Content> {
    const id = ++this.#last;
    const { content, problem } = await new Promise<Reply<Content>>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ ...question, id } as Question);
    });
    if (problem !== null) throw this.#toError(problem);
    return content;
  }

  /** Rejects all questions that are not answered yet. */
  rejectAll(problem: string): void {
    for (const id of [...this.#waiting.keys()]) {
      this.answered({ id, content: undefined as Content, problem });
    }
  }

  answered(reply: Reply<Content>): void {
    this.#waiting.get(reply.id)?.(reply);
    this.#waiting.delete(reply.id);
  }
}
