import { Script } from 'node:vm';
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';
import { printable } from '../../lib/printable';
import { ModelFileError } from '../files';
import { fillTemplate, type PairField, type TextTemplate } from './pair-template';
import type { ChatTemplate } from './template-file';

/** Maximum duration of all work on a template. Templates of models take less than a millisecond. */
const MAX_MILLISECONDS = 1_000;
/** Maximum length of a rendered template in UTF-16 units. */
const MAX_LENGTH = 256 * 1024;
/** Maximum number of values of `range`. */
const MAX_RANGE = 10_000;

/** Whitespace around the contents: it is missing in the rendered text if the template trims them. */
const SPACE = '\u2003';
/** Contents of a trial run, which no template contains. */
const CONTENTS = { query: '\u{F0000}1\u{F0001}', document: '\u{F0000}2\u{F0001}' } as const;
const FIELDS = /(\u2003?)\u{F0000}([12])\u{F0001}(\u2003?)/gu;

/** Contents with which a template is compared with the text that was derived from it. */
const TRIALS: readonly (readonly [query: string, document: string])[] = [
  ['', ''],
  ['a', ' b\n'],
  ['\t\u00e9 {{ x }} {% y %}', '<|im_end|> \u{1F600}'],
  ['word '.repeat(200), 'word '.repeat(2_000)],
];

/** Messages of a pair and the variables of the template. */
export interface PairMessages {
  /** Content of the system message; empty: no such message. */
  readonly system: string;
  /** Whether a content is a list of typed objects, as models with several modalities expect. */
  readonly isStructured: boolean;
  /** Variables in addition to `messages` and the special tokens. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Renders a chat template for messages with the roles `query` and `document`, whose contents become
 * fields. The template runs when a model is loaded, and not for requests.
 *
 * Sources: transformers 5.23, utils/chat_template_utils.py; sentence-transformers 6.2,
 * base/modality.py (`pair_to_messages`, `pair_roles_failure`).
 *
 * @throws ModelFileError if the template fails, exceeds a limit, does not contain the contents, or
 *   depends on them
 */
export function renderPair(chat: ChatTemplate, messages: PairMessages): TextTemplate {
  return withinLimits(chat.file, () => {
    // The options of transformers' environment.
    const program = parse(tokenize(chat.source, { lstrip_blocks: true, trim_blocks: true }));
    const render = (query: string, document: string) => {
      const environment = new Environment();
      const values = variablesOf(chat, messages, { query, document });
      for (const [name, value] of Object.entries(values)) environment.set(name, value);
      const { value } = new Interpreter(environment).run(program);
      return requireLength(chat.file, value as string);
    };
    const { query, document } = CONTENTS;
    const parts = split(render(SPACE + query + SPACE, SPACE + document + SPACE));
    requireFields(chat.file, parts);
    for (const pair of TRIALS)
      requireSame(chat.file, render(...pair), fillTemplate(parts, ...pair));
    return parts;
  });
}

function variablesOf(
  { tokens }: ChatTemplate,
  { system, isStructured, variables }: PairMessages,
  contents: Readonly<Record<'query' | 'document', string>>,
): Record<string, unknown> {
  const message = (role: string, text: string) => {
    return { role, content: isStructured ? [{ type: 'text', text }] : text };
  };
  return {
    ...GLOBALS,
    ...tokens,
    add_generation_prompt: false,
    ...variables,
    messages: [
      ...(system === '' ? [] : [message('system', system)]),
      message('query', contents.query),
      message('document', contents.document),
    ],
  };
}

/** Names that templates can use. The library's own `range` has no limit. */
const GLOBALS = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
  range,
  raise_exception: (reason: unknown) => {
    throw new Error(String(reason));
  },
  strftime_now: () => {
    throw new Error('strftime_now: scores would depend on the date');
  },
};

/** `range` of Python, with a limit. */
function range(first: number, end?: number, step = 1): number[] {
  const [from, to] = end === undefined ? [0, first] : [first, end];
  const count = Math.max(0, Math.ceil((to - from) / step));
  if (!(count <= MAX_RANGE)) throw new Error(`range() has more than ${MAX_RANGE} values`);
  return Array.from({ length: count }, (_, index) => from + index * step);
}

const CALL = new Script('work()');

/** Stops code that takes too long. Errors of the template name the file. */
function withinLimits<Result>(file: string, work: () => Result): Result {
  try {
    return CALL.runInNewContext({ work }, { timeout: MAX_MILLISECONDS }) as Result;
  } catch (error) {
    if (error instanceof ModelFileError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const isTimeout = code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    const why = isTimeout ? `takes longer than ${MAX_MILLISECONDS} ms` : `fails: ${message}`;
    throw new ModelFileError(`${file}: ${printable(why.replaceAll(/\s+/g, ' '))}`);
  }
}

function requireLength(file: string, text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  throw new ModelFileError(
    `${file}: renders ${text.length} characters, expected at most ${MAX_LENGTH}`,
  );
}

function split(rendered: string): TextTemplate {
  const parts: (string | PairField)[] = [];
  let end = 0;
  for (const match of rendered.matchAll(FIELDS)) {
    const [all, before, name, after] = match;
    parts.push(rendered.slice(end, match.index), {
      field: name === '1' ? 'query' : 'document',
      trimsStart: before === '',
      trimsEnd: after === '',
    });
    end = match.index + all.length;
  }
  return [...parts, rendered.slice(end)].filter((part) => part !== '');
}

function requireFields(file: string, parts: TextTemplate): void {
  for (const name of ['query', 'document'] as const) {
    if (parts.some((part) => typeof part !== 'string' && part.field === name)) continue;
    throw new ModelFileError(
      `${file}: expected a template that renders the content of messages with the role "${name}", found none. ` +
        `Add {{ messages | selectattr('role', 'eq', '${name}') | map(attribute='content') | first }}`,
    );
  }
}

function requireSame(file: string, rendered: string, filled: string): void {
  if (rendered === filled) return;
  throw new ModelFileError(
    `${file}: expected a template that inserts contents as they are or without surrounding whitespace, found one ` +
      'that changes them or depends on them',
  );
}
