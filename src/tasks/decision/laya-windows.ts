import type { LayaMetadata } from '../../models/laya/directory';
import { EngineError, type InferOptions } from '../../native/engine';
import type { TextTokenizer } from '../capabilities';
import type { TextTokens } from '../token-recipe';
import { layaHeadLength, layaRecipe } from './laya-sequence';
import type { Question } from './questions';

/** Maximum number of windows of a state, multiplied by the number of questions. */
const MAX_SEQUENCES = 4096;
/** Minimum length of windows in tokens, if the questions leave as many. */
const MIN_WINDOW = 64;
/** Tokens of a window that laya leaves free. */
const MARGIN = 8;

type Model = Pick<TextTokenizer, 'tokenize' | 'decode'> & { readonly metadata: LayaMetadata };

/**
 * Texts of the windows of a state, each half a window after the one before; null: the questions leave room for the whole
 * state. Source: laya, agent.py (`predict_long`) and common.py (`window_budget`).
 *
 * @throws EngineError INPUT_TOO_LONG with the index of a question that leaves no room, LIST_TOO_LONG
 */
export async function layaWindows(
  model: Model,
  state: string,
  questions: readonly Question[],
  options: InferOptions,
): Promise<readonly string[] | null> {
  const { maxLength, maxHeadLength } = model.metadata;
  const stateIds = await idsOf(model, [state], options);
  const rooms: number[] = [];
  for (const question of questions) {
    const { texts } = layaRecipe({ state: '', truncationSide: 'right', question }, model.metadata);
    const head = layaHeadLength(await tokensOf(model, texts, options), model.metadata);
    rooms.push(maxLength - head - 1);
  }
  const room = Math.min(...rooms);
  if (room <= 0) {
    const message = `The question and its options leave no tokens for the state, the model takes ${maxLength}. Send fewer or shorter options.`;
    throw new EngineError('INPUT_TOO_LONG', message, { index: rooms.indexOf(room) });
  }
  if (stateIds.length <= room) return null;
  const length = Math.min(Math.max(MIN_WINDOW, maxLength - maxHeadLength - MARGIN), room);
  const step = Math.max(1, Math.floor(length / 2));
  const count = 1 + Math.ceil(Math.max(0, stateIds.length - length) / step);
  requireSequences(count, questions.length);
  const windows = Array.from({ length: count }, (_, index) => [
    ...stateIds.subarray(index * step, index * step + length),
  ]);
  // laya reads the text of a window, whose tokens can differ at its ends.
  return (await model.decode(windows, false)).map(String);
}

/** @throws EngineError LIST_TOO_LONG */
function requireSequences(windows: number, questions: number): void {
  if (windows * questions <= MAX_SEQUENCES) return;
  const message = `The state has ${windows} windows for each of ${questions} questions, over the limit of ${MAX_SEQUENCES} in all. Send fewer questions, shorter options or a shorter state.`;
  throw new EngineError('LIST_TOO_LONG', message);
}

async function idsOf(
  model: Model,
  texts: readonly string[],
  options: InferOptions,
): Promise<Uint32Array> {
  const [tokens] = await tokensOf(model, texts, options);
  return (tokens as TextTokens).ids;
}

async function tokensOf(
  model: Model,
  texts: readonly string[],
  options: InferOptions,
): Promise<readonly TextTokens[]> {
  const tokenized = await model.tokenize(texts, false, options);
  return tokenized.map(({ places }) => places as TextTokens);
}
