import type { InferOptions } from '../../native/engine';
import type { TextVariant } from './text-variants';

/** How a model reads the text of a look. */
export interface ReadOptions {
  readonly places?: true;
  /** Of a window. */
  readonly maxTokens: number;
  readonly stride: number;
}

interface Model<Answer> {
  runAll(
    inputs: readonly (ReadOptions & { readonly text: string })[],
    options: InferOptions,
  ): Promise<readonly Answer[]>;
}

/** What the models of one request are asked: checks that ask one the same of a look share its answer. */
export class InferenceMemo {
  readonly #answers = new Map<object, Map<string, Map<TextVariant, Promise<unknown>>>>();

  /**
   * Runs the model on the looks that it has not been asked about.
   *
   * @returns in the order of the looks; to each check that asks the same objects
   */
  runAll<Answer>(
    model: Model<Answer>,
    looks: readonly TextVariant[],
    reading: ReadOptions,
    options: InferOptions,
  ): Promise<readonly Answer[]> {
    const known = this.#of(model, reading) as Map<TextVariant, Promise<Answer>>;
    const others = looks.filter((look) => !known.has(look));
    if (others.length > 0) {
      const inputs = others.map(({ text }) => ({ text, ...reading }));
      const running = model.runAll(inputs, options);
      for (const [index, look] of others.entries()) {
        known.set(
          look,
          running.then((answers) => answers[index] as Answer),
        );
      }
    }
    return Promise.all(looks.map((look) => known.get(look) as Promise<Answer>));
  }

  #of(model: object, reading: ReadOptions): Map<TextVariant, Promise<unknown>> {
    const byReading =
      this.#answers.get(model) ?? new Map<string, Map<TextVariant, Promise<unknown>>>();
    this.#answers.set(model, byReading);
    const key = JSON.stringify(reading);
    const byLook = byReading.get(key) ?? new Map<TextVariant, Promise<unknown>>();
    byReading.set(key, byLook);
    return byLook;
  }
}
