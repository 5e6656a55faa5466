import type { ModelDescription, NativeEngine } from './binding';
import type { ActiveWork } from './pending-requests';

/** Vocabulary of a tokenizer. Methods throw after the model is closed, except within `track`. */
export class Vocabulary {
  /** Whether continuation tokens are marked, as with `##` in WordPiece. */
  readonly marksContinuedWords: boolean;
  /** ID of the unknown token; null: no unknown token. */
  readonly unknownId: number | null;
  readonly #native: Pick<NativeEngine, 'token' | 'join'>;
  readonly #holds: ActiveWork;
  /** Cache of tokens by ID. */
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

  /** null: the model has no vocabulary. */
  static of(
    native: Pick<NativeEngine, 'token' | 'join'>,
    { vocabulary }: ModelDescription,
    holds: ActiveWork,
  ): Vocabulary | null {
    return vocabulary ? new Vocabulary(native, vocabulary, holds) : null;
  }

  /** Keeps the model in memory until `work` settles, even if the model is closed. */
  track<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#holds.track(work);
  }

  /** `convert_ids_to_tokens` of transformers for a single ID. */
  token(id: number): string {
    const cached = this.#tokens.get(id);
    if (cached !== undefined) return cached;
    const token = this.#native.token(id);
    this.#tokens.set(id, token);
    return token;
  }

  /** `convert_tokens_to_string` of transformers. */
  join(tokens: readonly string[]): string {
    return this.#native.join(tokens);
  }
}
