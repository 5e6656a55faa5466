import { dumpJson } from '../../lib/python-json';
import { MAX_DEPTH } from '../../serving/json';
import {
  type Fields,
  findFirstProblem,
  isRecord,
  notA,
  type Problem,
  problemAt,
} from '../../tasks/decision/problems';
import type { DecisionRequest } from '../../tasks/decision/questions';
import { textOf } from '../../tasks/decision/texts';
import { IMAGES_UNSUPPORTED } from '../validation/decision-fields';
import { checked } from '../validation/fields';

/** Limits of `input_json` of OpenAI's API. */
const MAX_JSON_LEVELS = 32;
const MAX_JSON_VALUES = 10_000;
const MAX_JSON_BYTES = 256 * 1024;

/** Fields with text of the items that are not messages. */
const ITEM_TEXTS: ReadonlyMap<unknown, string> = new Map([
  ['function_call', 'arguments'],
  ['function_call_output', 'output'],
  ['custom_tool_call', 'input'],
  ['custom_tool_call_output', 'output'],
]);
/** Types of the parts of messages by role. */
const TYPES_OF_ROLES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['user', ['input_text', 'input_json', 'input_image']],
  ['developer', ['input_text']],
  ['system', ['input_text']],
  ['assistant', ['output_text', 'refusal']],
]);
const TYPES_OF_OUTPUTS = ['input_text', 'input_image'];
const TYPES_OF_INSTRUCTIONS = ['input_text', 'input_json', 'input_image'];

/** Schema of `input`. */
export const decisionInput = checked(findInputProblem, (value) => value).meta({
  description:
    'A text, or messages, tool calls and their outputs. One user message is read as its parts, line by line. In several items each begins with its role or type',
  anyOf: [
    { type: 'string' },
    {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          type: { enum: ['message', ...ITEM_TEXTS.keys()] },
          role: { enum: [...TYPES_OF_ROLES.keys()] },
          content: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
        },
      },
    },
  ],
});

/**
 * Text of `input`. Several items that are too long together lose their beginning.
 *
 * @param input of `exactBody`
 */
export function readInput(input: unknown): Pick<DecisionRequest, 'state' | 'truncationSide'> {
  if (typeof input === 'string') return { state: input, truncationSide: 'right' };
  const items = input as readonly Fields[];
  const [first] = items;
  if (items.length === 1 && first?.role === 'user') {
    return { state: contentText(first.content), truncationSide: 'right' };
  }
  return { state: items.map(itemText).join('\n'), truncationSide: 'left' };
}

/** Problem of instructions; null: valid. */
export function findInstructionsProblem(value: unknown): Problem | null {
  return value == null ? null : findContentProblem(value, TYPES_OF_INSTRUCTIONS);
}

/** Text of a string or of parts, one per line. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as readonly Fields[]).map(partText).join('\n');
}

function partText({ type, text, refusal, data }: Fields): string {
  return type === 'input_json' ? dumpJson(data) : textOf(type === 'refusal' ? refusal : text);
}

function itemText(item: Fields): string {
  if (item.role !== undefined) return `${item.role}: ${contentText(item.content)}`;
  const text = contentText(item[ITEM_TEXTS.get(item.type) as string]);
  const name = item.name === undefined ? '' : ` ${textOf(item.name)}`;
  return `${item.type}${name}: ${text}`;
}

function findInputProblem(value: unknown): Problem | null {
  if (typeof value === 'string') return null;
  const what = 'a string or an array of items';
  if (!Array.isArray(value)) return notA(what, value);
  if (value.length === 0) return { message: 'cannot be an empty list', path: [] };
  return findFirstProblem(value.entries(), findItemProblem);
}

function findItemProblem(item: unknown): Problem | null {
  if (!isRecord(item)) return { message: 'expected an object', path: [] };
  const { type = 'message', role, content, name } = item;
  if (type === 'message') {
    const types = TYPES_OF_ROLES.get(role);
    if (!types) {
      return { message: 'expected "user", "developer", "system" or "assistant"', path: ['role'] };
    }
    return problemAt('content', findContentProblem(content, types));
  }
  const field = ITEM_TEXTS.get(type);
  if (role !== undefined || field === undefined) {
    const types = [...ITEM_TEXTS.keys()].join(', ');
    return { message: `expected message, ${types}`, path: ['type'] };
  }
  if (name !== undefined && typeof name !== 'string') {
    return { message: 'expected a string', path: ['name'] };
  }
  const types = field === 'output' ? TYPES_OF_OUTPUTS : [];
  return problemAt(field, findContentProblem(item[field], types));
}

/** Problem of a string or of a list of parts of some types; null: valid. */
function findContentProblem(value: unknown, types: readonly string[]): Problem | null {
  if (typeof value === 'string') return null;
  const what = types.length === 0 ? 'a string' : 'a string or an array of parts';
  if (!Array.isArray(value) || types.length === 0) {
    return notA(what, value);
  }
  return findFirstProblem(value.entries(), (part) => findPartProblem(part, types));
}

function findPartProblem(part: unknown, types: readonly string[]): Problem | null {
  if (!isRecord(part)) return { message: 'expected an object', path: [] };
  const type = types.find((one) => one === part.type);
  if (type === undefined) {
    const texts = types.filter((one) => one !== 'input_image');
    return { message: `expected ${texts.join(' or ')}`, path: ['type'] };
  }
  if (type === 'input_image') return { message: IMAGES_UNSUPPORTED, path: ['type'] };
  if (type === 'input_json') return problemAt('data', findJsonProblem(part.data));
  const field = type === 'refusal' ? 'refusal' : 'text';
  if (typeof part[field] === 'string') return null;
  return problemAt(field, notA('a string', part[field]));
}

/** Problem of the data of `input_json`; null: valid. */
function findJsonProblem(data: unknown): Problem | null {
  const isValid = isRecord(data) || (Array.isArray(data) && data.every(isRecord));
  if (!isValid) return { message: 'expected an object, or an array of objects', path: [] };
  const { values, levels } = sizeOf(data, 1);
  const bytes = values > MAX_JSON_VALUES ? 0 : Buffer.byteLength(JSON.stringify(data));
  for (const [count, most, what] of [
    [levels, MAX_JSON_LEVELS, 'levels'],
    [values, MAX_JSON_VALUES, 'values'],
    [bytes, MAX_JSON_BYTES, 'bytes'],
  ] as const) {
    if (count > most) return { message: `expected at most ${most} ${what}`, path: [] };
  }
  return null;
}

/** Number of values, and depth, of parsed JSON, which has at most MAX_DEPTH levels. */
function sizeOf(value: unknown, level: number): { values: number; levels: number } {
  const size = { values: 1, levels: 0 };
  if (typeof value !== 'object' || value === null || level > MAX_DEPTH) return size;
  size.levels = level;
  for (const member of Object.values(value)) {
    const { values, levels } = sizeOf(member, level + 1);
    size.values += values;
    size.levels = Math.max(size.levels, levels);
  }
  return size;
}
