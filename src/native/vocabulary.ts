import type { ModelDescription, NativeEngine } from './binding';
import type { ActiveWork } from './pending-requests';

/** What the tokens of a model are called. Throws once the model is closed: see `during`. */
export class Vocabulary {
  /** Tokens that go on with a word are marked as such. */
  readonly marksContinuedWords: boolean;
  /** Of the token for what the vocabulary does not have; null: there is none. */
  readonly unknownId: number | null;
  readonly #native: Pick<NativeEngine, 'token' | 'join'>;
  readonly #holds: ActiveWork;
  /** Those that were asked for. */
  readonly #tokens = new Map<number, string>();

  private constructor(
    native: Pick<NativeEngine, 'token' | 'join'>,
    { marksContinuedWords, unknownId }: NonNullable<ModelDescription['vocabulary']>,
    holds: ActiveWork,
  ) {
    this.#native = native;
    this.#holds = holds;
    this.marksContinuedWords = marksContinuedWords;
    this.unknownId = unknownId;
  }

  /** null: the model has none. */
  static of(
    native: Pick<NativeEngine, 'token' | 'join'>,
    { vocabulary }: ModelDescription,
    holds: ActiveWork,
  ): Vocabulary | null {
    return vocabulary ? new Vocabulary(native, vocabulary, holds) : null;
  }

  /** Keeps the model until `work` has ended, also if it is closed meanwhile. */
  track<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#holds.track(work);
  }

  /** `convert_ids_to_tokens` of transformers, of one id. */
  token(id: number): string {
    const known = this.#tokens.get(id);
    if (known !== undefined) return known;
    const token = this.#native.token(id);
    this.#tokens.set(id, token);
    return token;
  }

  /** `convert_tokens_to_string` of transformers. */
  join(tokens: readonly string[]): string {
    return this.#native.join(tokens);
  }
}
