import { z } from 'zod';
import { textsOfToolCall, textsOfToolCalls } from '../json-text';
import {
  checked,
  type ElementProblem,
  expected,
  listOf,
  MAX_NAMES,
  MAX_REPEATED,
  nameList,
  object,
  string,
} from '../validation/fields';

const params = object({
  checks: nameList('an array of names')
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string', maxLength: MAX_REPEATED },
      maxItems: MAX_NAMES,
      description: 'Names of checks of the guard. Default: all of the direction',
    }),
  direction: z
    .enum(['input', 'output', 'both'], { error: expected('"input", "output" or "both"') })
    .optional()
    .describe('Whose checks are asked: of texts that go to a language model or come from one'),
})
  .nullish()
  .describe('Others are not looked at');

export type DetectorParams = z.output<typeof params>;

/** Body of POST /api/v1/text/contents. */
export const contentsBody = object({
  contents: listOf<string>('an array of texts', findTextProblem).meta({
    type: 'array',
    items: { type: 'string' },
    description: 'Each is looked at alone',
  }),
  detector_params: params,
});

/** Body of POST /api/v1/text/generation. */
export const generationBody = object({
  prompt: string().describe('Is not looked at'),
  generated_text: string(),
  detector_params: params,
});

/** A message of a chat, of which the texts are read. */
export interface Message {
  readonly role: string;
  readonly content?: string | readonly { readonly type?: string; readonly text?: string }[] | null;
  readonly tool_calls?: unknown;
  /** As chat completions had it before `tool_calls`. */
  readonly function_call?: unknown;
}

/** Body of POST /api/v1/text/chat. */
export const chatBody = object({
  messages: checked(findMessagesProblem, (value) => value as readonly Message[]).meta({
    type: 'array',
    minItems: 1,
    description: 'As OpenAI has them',
    items: { type: 'object', required: ['role'], properties: { role: { type: 'string' } } },
  }),
  detector_params: params,
});

const found = {
  detection: z.string().describe('Label'),
  detection_type: z.string().describe('Name of the check'),
  score: z.number().describe('Of patterns 1'),
};

export const contentDetection = z.object({
  start: z.int().describe('First character of the content, in code points'),
  end: z.int().describe('Behind the last one'),
  text: z.string(),
  ...found,
});

export const contentsAnswer = z.array(z.array(contentDetection)).describe('By content');

export const detectionsAnswer = z.array(
  z.object({
    ...found,
    evidence: z
      .array(z.object({ name: z.string(), value: z.string() }))
      .describe('In which text: `generated_text`, or `messages[3]`; and what of it'),
  }),
);

/** Of a message its texts: content that is a list has several, and so have the tools that it calls. */
export function textsOf({ content, tool_calls, function_call }: Message): readonly string[] {
  const written =
    typeof content === 'string'
      ? [content]
      : (content ?? []).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const calls = Array.isArray(tool_calls) ? tool_calls : [];
  return [...written, ...textsOfToolCalls(calls), ...textsOfToolCall(function_call)];
}

function findTextProblem(value: unknown): ElementProblem | null {
  return typeof value === 'string' ? null : { message: 'expected a string', path: [] };
}

function findMessagesProblem(value: unknown): ElementProblem | null {
  if (!Array.isArray(value)) {
    return { message: expected('an array of messages')({ input: value }), path: [] };
  }
  if (value.length === 0) return { message: 'cannot be an empty list', path: [] };
  for (const [index, message] of value.entries()) {
    const problem = findMessageProblem(message);
    if (problem) return { ...problem, path: [index, ...problem.path] };
  }
  return null;
}

function findMessageProblem(value: unknown): ElementProblem | null {
  const { role, content } = (value ?? {}) as {
    readonly role?: unknown;
    readonly content?: unknown;
  };
  if (typeof role !== 'string') return { message: 'expected a string', path: ['role'] };
  if (content === undefined || content === null || typeof content === 'string') return null;
  const isList =
    Array.isArray(content) && content.every((part) => typeof part === 'object' && part !== null);
  return isList ? null : { message: 'expected a text or a list of parts', path: ['content'] };
}
