import { mapInTimeSlices } from '../lib/time-slice';
import {
  type Engine,
  EngineError,
  type Inference,
  type InferOptions,
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
  /**
   * @param tokens those of `texts`
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
    const tokens = recipe.texts.map((text) => tokenized.get(text) as TextTokens);
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
  readonly tokenized: ReadonlyMap<string, TextTokens>;
  readonly tokenizationMs: number;
}> {
  const texts = [...new Set(recipes.flatMap((recipe) => recipe.texts))];
  const omitSpecialTokens = !recipes[0]?.addsSpecialTokens;
  const inputs = texts.map((text) => ({ text, onlyTokens: true, omitSpecialTokens }));
  try {
    const inferences = await engine.inferAll(inputs, options);
    return {
      tokenized: new Map(
        texts.map((text, index) => [text, inferences[index]?.places as TextTokens]),
      ),
      tokenizationMs: inferences.reduce((most, one) => Math.max(most, one.tokenizationMs), 0),
    };
  } catch (error) {
    if (!(error instanceof EngineError) || error.index === null) throw error;
    const text = texts[error.index] as string;
    throw withIndex(
      error,
      recipes.findIndex((recipe) => recipe.texts.includes(text)),
    );
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
