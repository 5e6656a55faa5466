import { type Numbered, Questions, type Reply } from '../../../repository/questions';
import { ServiceError } from '../../../serving/errors';
import type { Repository, RepositoryEntry } from '../../../tasks/repository';

/** What another event loop asks of the repository, which is the first one's. */
export interface Question extends Numbered {
  readonly what: keyof Repository;
  readonly name: string;
}

export type RepositoryReply = Reply<readonly RepositoryEntry[] | undefined>;

/** In the first event loop. */
export async function answerQuestion(
  repository: Repository | null,
  { id, what, name }: Question,
  reply: (reply: RepositoryReply) => void,
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
  readonly #questions: Questions<Question, RepositoryReply['content']>;

  constructor(ask: (question: Question) => void) {
    this.#questions = new Questions(ask, (problem) => new ServiceError('REQUEST_INVALID', problem));
  }

  async index(): Promise<readonly RepositoryEntry[]> {
    return (await this.#questions.ask({ what: 'index', name: '' })) ?? [];
  }

  async load(name: string): Promise<void> {
    await this.#questions.ask({ what: 'load', name });
  }

  async unload(name: string): Promise<void> {
    await this.#questions.ask({ what: 'unload', name });
  }

  answered(reply: RepositoryReply): void {
    this.#questions.answered(reply);
  }
}
