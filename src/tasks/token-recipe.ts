import { mapInTimeSlices } from '../lib/time-slice';
import {
  type Engine,
  EngineError,
  type Inference,
  type InferOptions,
  type TextInput,
  type TokenInput,
  type Tokenization,
} from '../native/engine';
import { errorOf, withIndex } from '../native/engine-error';

/** Maximum number of tokens of all inputs of a request, about 8 bytes each. */
const MAX_TOKENS = 2 ** 22;

/** Tokens of a text. Offsets are in bytes of UTF-8. */
export type TextTokens = Omit<Tokenization, 'lengths'>;

/** An input whose tokens are composed from the tokens of several texts. */
export interface TokenRecipe {
  readonly texts: readonly string[];
  /** The tokenizer adds special tokens to the texts. Equal for all inputs of a task. */
  readonly addsSpecialTokens: boolean;
  /** A text whose words are tokenized as in gliner2. Default: none. */
  readonly textOfWords?: string;
  /**
   * @param tokens those of `texts`, then of `textOfWords`
   * @param maxLength maximum number of tokens of the model
   * @throws EngineError INPUT_TOO_LONG
   */
  compose(tokens: readonly TextTokens[], maxLength: number): TokenInput;
}

/**
 * Tokenizes the texts of recipes, each different text once, and runs the model on the composed inputs.
 *
 * @returns inferences in the order of the recipes; `tokenizationMs`: of the slowest text
 * @throws EngineError; its index refers to the recipe
 */
export async function runRecipes(
  recipes: readonly TokenRecipe[],
  engine: Engine,
  options: InferOptions,
): Promise<readonly Inference[]> {
  if (recipes.length === 0) return [];
  const remaining = remainingOptions(options);
  const { tokenized, tokenizationMs } = await tokenizeTexts(recipes, engine, options);
  const { maxLength } = engine.description;
  let count = 0;
  const inputs = await mapInTimeSlices(recipes, (recipe, index) => {
    const tokens = partsOf(recipe).map((part) => tokenized.get(part) as TextTokens);
    const one = composeInput(recipe, tokens, maxLength, index);
    count += one.ids.length;
    if (count > MAX_TOKENS) throw tooManyTokens(recipes.length);
    return one;
  });
  const inferences = await engine.inferAll(inputs, remaining());
  return inferences.map((inference) => ({ ...inference, tokenizationMs }));
}

/** `runRecipes` of a single recipe. @throws EngineError without index */
export async function runRecipe(
  recipe: TokenRecipe,
  engine: Engine,
  options: InferOptions,
): Promise<Inference> {
  try {
    return (await runRecipes([recipe], engine, options))[0] as Inference;
  } catch (error) {
    if (!(error instanceof EngineError) || error.index === null) throw error;
    throw withIndex(error, null);
  }
}

async function tokenizeTexts(
  recipes: readonly TokenRecipe[],
  engine: Engine,
  options: InferOptions,
): Promise<{
  readonly tokenized: PartMap<TextTokens>;
  readonly tokenizationMs: number;
}> {
  const distinct = new PartMap<Part>();
  for (const part of recipes.flatMap(partsOf)) distinct.set(part, part);
  const parts = distinct.values();
  const omitSpecialTokens = !recipes[0]?.addsSpecialTokens;
  const inputs = parts.map((part) => ({ ...part, onlyTokens: true, omitSpecialTokens }));
  try {
    const inferences = await engine.inferAll(inputs, options);
    const tokenized = new PartMap<TextTokens>();
    for (const [index, part] of parts.entries()) {
      tokenized.set(part, inferences[index]?.places as TextTokens);
    }
    return {
      tokenized,
      tokenizationMs: inferences.reduce((most, one) => Math.max(most, one.tokenizationMs), 0),
    };
  } catch (error) {
    if (!(error instanceof EngineError) || error.index === null) throw error;
    const failed = parts[error.index] as Part;
    const isFailed = ({ text, byWords }: Part) =>
      text === failed.text && byWords === failed.byWords;
    throw withIndex(
      error,
      recipes.findIndex((recipe) => partsOf(recipe).some(isFailed)),
    );
  }
}

type Part = Pick<TextInput, 'text' | 'byWords'>;

function partsOf({ texts, textOfWords }: TokenRecipe): readonly Part[] {
  const parts: Part[] = texts.map((text) => ({ text }));
  return textOfWords === undefined ? parts : [...parts, { text: textOfWords, byWords: true }];
}

/** Values by part. */
class PartMap<Value> {
  readonly #ofTexts = new Map<string, Value>();
  readonly #ofWords = new Map<string, Value>();

  get({ text, byWords }: Part): Value | undefined {
    return (byWords ? this.#ofWords : this.#ofTexts).get(text);
  }

  set({ text, byWords }: Part, value: Value): void {
    (byWords ? this.#ofWords : this.#ofTexts).set(text, value);
  }

  values(): readonly Value[] {
    return [...this.#ofTexts.values(), ...this.#ofWords.values()];
  }
}

function composeInput(
  recipe: TokenRecipe,
  tokens: readonly TextTokens[],
  maxLength: number,
  index: number,
): TokenInput {
  try {
    return recipe.compose(tokens, maxLength);
  } catch (error) {
    throw error instanceof EngineError ? withIndex(error, index) : error;
  }
}

function tooManyTokens(inputs: number): EngineError {
  const message = `The ${inputs} inputs have more than ${MAX_TOKENS} tokens in total. A text that is read several times counts several times. Send fewer or shorter texts.`;
  return new EngineError('LIST_TOO_LONG', message);
}

/** Returns the options with the time that is left. @throws EngineError DEADLINE_EXCEEDED */
function remainingOptions(options: InferOptions): () => InferOptions {
  const { timeoutMs } = options;
  if (!timeoutMs) return () => options;
  const deadline = performance.now() + timeoutMs;
  return () => {
    const left = deadline - performance.now();
    if (left <= 0) throw errorOf('DEADLINE_EXCEEDED');
    return { ...options, timeoutMs: left };
  };
}
