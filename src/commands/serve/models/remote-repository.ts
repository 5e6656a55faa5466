import { ServiceError } from '../../../serving/errors';
import type { Repository, RepositoryEntry } from '../../../tasks/repository';

/** What another event loop asks of the repository, which is the first one's. */
export interface Question {
  readonly id: number;
  readonly what: keyof Repository;
  readonly name: string;
}

export interface Reply {
  readonly id: number;
  readonly content: readonly RepositoryEntry[] | undefined;
  /** Null: it was done. */
  readonly problem: string | null;
}

/** In the first event loop. */
export async function answerQuestion(
  repository: Repository | null,
  { id, what, name }: Question,
  reply: (reply: Reply) => void,
): Promise<void> {
  try {
    const content = (await repository?.[what](name)) ?? undefined;
    reply({ id, content, problem: null });
  } catch (error) {
    reply({ id, content: undefined, problem: (error as Error).message });
  }
}

/** The repository in the other event loops. */
export class RemoteRepository implements Repository {
  readonly #ask: (question: Question) => void;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #last = 0;

  constructor(ask: (question: Question) => void) {
    this.#ask = ask;
  }

  async index(): Promise<readonly RepositoryEntry[]> {
    return (await this.#asked('index')) ?? [];
  }

  async load(name: string): Promise<void> {
    await this.#asked('load', name);
  }

  async unload(name: string): Promise<void> {
    await this.#asked('unload', name);
  }

  answered(reply: Reply): void {
    this.#waiting.get(reply.id)?.(reply);
    this.#waiting.delete(reply.id);
  }

  async #asked(what: keyof Repository, name = ''): Promise<Reply['content']> {
    const id = ++this.#last;
    const { content, problem } = await new Promise<Reply>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#ask({ id, what, name });
    });
    if (problem !== null) throw new ServiceError('REQUEST_INVALID', problem);
    return content;
  }
}
