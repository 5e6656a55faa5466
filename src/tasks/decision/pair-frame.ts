import { EngineError, type Inference, type TokenInput } from '../../native/engine';

/** IDs and token type IDs of consecutive tokens. */
interface Piece {
  readonly ids: Uint32Array;
  readonly types: Uint32Array;
}

/**
 * Special tokens of a text pair. Tokenizers of transformers tokenize both texts of a pair separately and then insert
 * fixed tokens (tokenizers, `TokenizerImpl::encode`), so a pair can be composed from tokens of its texts.
 */
export class PairFrame {
  readonly #before: Piece;
  readonly #between: Piece;
  readonly #after: Piece;
  readonly #firstType: number;
  readonly #secondType: number;

  /** @param pair inference with `places` of any text pair, both texts with at least one token */
  constructor({ places }: Inference) {
    const sources = [...(places?.texts ?? [])];
    const [first, second] = [sources.indexOf(1), sources.indexOf(2)];
    if (!places || first < 0 || second < first) {
      const message = 'The tokenizer does not tokenize text pairs.';
      throw new EngineError('INFERENCE_FAILED', message);
    }
    const piece = (begin: number, end: number): Piece => ({
      ids: places.ids.slice(begin, end),
      types: places.types.slice(begin, end),
    });
    this.#before = piece(0, first);
    this.#between = piece(sources.lastIndexOf(1) + 1, second);
    this.#after = piece(sources.lastIndexOf(2) + 1, sources.length);
    this.#firstType = places.types[first] as number;
    this.#secondType = places.types[second] as number;
  }

  /** Number of special tokens. */
  get length(): number {
    return this.#before.ids.length + this.#between.ids.length + this.#after.ids.length;
  }

  /** @param first, second tokens without special tokens */
  compose(first: Uint32Array, second: Uint32Array): TokenInput {
    const length = this.length + first.length + second.length;
    const [ids, types] = [new Uint32Array(length), new Uint32Array(length)];
    let at = 0;
    const append = (piece: Uint32Array, ofTypes: Uint32Array | number): void => {
      ids.set(piece, at);
      if (typeof ofTypes === 'number') types.fill(ofTypes, at, at + piece.length);
      else types.set(ofTypes, at);
      at += piece.length;
    };
    append(this.#before.ids, this.#before.types);
    append(first, this.#firstType);
    append(this.#between.ids, this.#between.types);
    append(second, this.#secondType);
    append(this.#after.ids, this.#after.types);
    return { ids, types };
  }
}
