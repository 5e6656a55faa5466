import type { LayaMetadata } from '../../models/laya/directory';
import { EngineError, type TokenInput } from '../../native/engine';
import type { TextTokens, TokenRecipe } from '../token-recipe';
import type { Question } from './questions';

/** Maximum number of tokens of an option, without its mask token. */
const MAX_OPTION_TOKENS = 48;
/** Minimum number of tokens for the instructions before options are shortened. */
const MIN_QUESTION_ROOM = 16;
/** Minimum number of tokens of the instructions and of an option that remain. */
const MIN_QUESTION_TOKENS = 8;
const MIN_OPTION_TOKENS = 4;

/** Names of question types in the order of their embeddings. */
export const LAYA_TYPES = ['choice', 'score', 'noul'] as const;
export type LayaType = (typeof LAYA_TYPES)[number];

export interface LayaInput {
  readonly state: string;
  readonly truncationSide: 'left' | 'right';
  readonly question: Question;
}

export function layaTypeOf({ type }: Question): LayaType {
  return type === 'predicate' ? 'noul' : type;
}

/** Texts of the options. Source: laya, common.py (`render_options`). */
export function layaOptionsOf(question: Question): readonly string[] {
  switch (question.type) {
    case 'choice':
      return question.options.map(({ label, description }) =>
        description ? `${label}: ${description}` : label,
      );
    case 'score':
      return question.levels.map((description, level) =>
        description === null ? `level ${level}` : `level ${level}: ${description}`,
      );
    case 'predicate': {
      const { criteria } = question;
      return [
        `false: ${criteria.false || 'no, the statement does not hold'}`,
        `true: ${criteria.true || 'yes, the statement holds'}`,
      ];
    }
  }
}

/**
 * The sequence of a question: `[CLS] question [SEP] [MASK] option … [SEP] state [SEP]`. Its markers are the mask tokens.
 * Source: laya, common.py (`build_sequence`).
 */
export function layaRecipe(
  { state, truncationSide, question }: LayaInput,
  metadata: LayaMetadata,
): TokenRecipe {
  const { cls, sep, mask } = metadata.tokens;
  const type = layaTypeOf(question);
  const withoutMask = (text: string): string => text.replaceAll(mask, ' ');
  const title = `${type} question: ${withoutMask(question.instructions ?? '')}`;
  const options = layaOptionsOf(question).map((option) => ` ${withoutMask(option)}`);
  return {
    texts: [cls, sep, mask, withoutMask(state), title, ...options],
    addsSpecialTokens: false,
    compose: (tokens) => {
      const { head, stateIds, separator } = readTokens(tokens, metadata);
      const sequence = appendState(head, stateIds, separator, { ...metadata, truncationSide });
      return toInput(sequence, LAYA_TYPES.indexOf(type), options.length, metadata);
    },
  };
}

/** Number of tokens before the state. @param tokens of the texts of `layaRecipe` */
export function layaHeadLength(tokens: readonly TextTokens[], metadata: LayaMetadata): number {
  return readTokens(tokens, metadata).head.ids.length;
}

/** @param tokens of the texts of `layaRecipe` */
function readTokens(
  tokens: readonly TextTokens[],
  metadata: LayaMetadata,
): { readonly head: Head; readonly stateIds: Uint32Array; readonly separator: number } {
  const { cls, sep, mask } = metadata.tokens;
  const [ofCls, ofSep, ofMask, ofState, ofTitle, ...ofOptions] = tokens.map(({ ids }) => ids);
  const special = { cls: only(ofCls, cls), sep: only(ofSep, sep), mask: only(ofMask, mask) };
  const pieces = { title: ofTitle as Uint32Array, options: ofOptions };
  const head = composeHead(pieces, special, metadata);
  return { head, stateIds: ofState as Uint32Array, separator: special.sep };
}

interface SpecialIds {
  readonly cls: number;
  readonly sep: number;
  readonly mask: number;
}

interface Head {
  readonly ids: readonly number[];
  readonly markers: readonly number[];
  /** Position after the last option. */
  readonly optionsEnd: number;
}

interface Sequence extends Head {
  readonly isTruncated: boolean;
}

/** Question and options. Long options are shortened, then the instructions. Source: `build_head`. */
function composeHead(
  { title, options }: { readonly title: Uint32Array; readonly options: readonly Uint32Array[] },
  { cls, sep, mask }: SpecialIds,
  { maxHeadLength, truncatesLeft }: LayaMetadata,
): Head {
  let cut = options.map((ids) => [
    mask,
    ...(truncatesLeft ? ids.slice(-MAX_OPTION_TOKENS) : ids.slice(0, MAX_OPTION_TOKENS)),
  ]);
  const roomBeside = (): number =>
    cut.reduce((room, option) => room - option.length, maxHeadLength);
  if (roomBeside() < MIN_QUESTION_ROOM) {
    const share = Math.floor((maxHeadLength - MIN_QUESTION_ROOM) / Math.max(1, cut.length));
    const most = Math.max(MIN_OPTION_TOKENS, share);
    cut = cut.map((option) => option.slice(0, most));
  }
  const question = title.subarray(0, Math.max(MIN_QUESTION_TOKENS, roomBeside()));
  const ids = [cls, ...question, sep];
  const markers: number[] = [];
  for (const option of cut) {
    markers.push(ids.length);
    ids.push(...option);
  }
  const optionsEnd = ids.length;
  ids.push(sep);
  return { ids, markers, optionsEnd };
}

function appendState(
  { ids, markers, optionsEnd }: Head,
  state: Uint32Array,
  sep: number,
  { maxLength, truncationSide }: LayaMetadata & Pick<LayaInput, 'truncationSide'>,
): Sequence {
  const room = Math.max(0, maxLength - ids.length - 1);
  const begin = truncationSide === 'left' ? Math.max(0, state.length - room) : 0;
  const kept = state.subarray(begin, begin + room);
  return {
    ids: [...ids, ...kept, sep].slice(0, maxLength),
    markers: markers.filter((marker) => marker < maxLength),
    optionsEnd: Math.min(optionsEnd, maxLength),
    isTruncated: kept.length < state.length,
  };
}

/** @throws EngineError INPUT_TOO_LONG: the sequence ends before the last option */
function toInput(
  { ids, markers, optionsEnd, isTruncated }: Sequence,
  questionType: number,
  optionCount: number,
  { maxLength, hasParallelOptions }: LayaMetadata,
): TokenInput {
  if (markers.length < optionCount) {
    const message = `Only ${markers.length} of the ${optionCount} options fit into the ${maxLength} tokens that the model takes. Send fewer or shorter options.`;
    throw new EngineError('INPUT_TOO_LONG', message);
  }
  return {
    ids: Uint32Array.from(ids),
    types: new Uint32Array(ids.length),
    markers: Uint32Array.from(markers),
    questionType,
    ...(hasParallelOptions && { optionsEnd }),
    truncated: isTruncated,
  };
}

/** The ID of a special token. @throws EngineError: its text is not one token */
function only(ids: TextTokens['ids'] | undefined, text: string): number {
  const [id] = ids ?? [];
  if (id !== undefined && ids?.length === 1) return id;
  const message = `The tokenizer divides its special token ${text}.`;
  throw new EngineError('INFERENCE_FAILED', message);
}
