import { textsOfToolCall, textsOfToolCalls } from '../json-text';
import { checked, type ElementProblem, expected } from '../validation/fields';

/** A chat message in OpenAI's format. */
interface Message {
  readonly role: string;
  readonly content?: string | readonly { readonly type?: string; readonly text?: string }[] | null;
  readonly tool_calls?: unknown;
  /** Tool call in the format before `tool_calls`. */
  readonly function_call?: unknown;
}

/** Non-empty list of chat messages. */
export const chatMessages = checked(findProblem, (value) => value as readonly Message[]).meta({
  type: 'array',
  minItems: 1,
  description: "Messages in OpenAI's format",
  items: { type: 'object', required: ['role'], properties: { role: { type: 'string' } } },
});

/** Texts of the content and of the tool calls of a message. */
export function textsOf({ content, tool_calls, function_call }: Message): readonly string[] {
  const contents =
    typeof content === 'string'
      ? [content]
      : (content ?? []).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const calls = Array.isArray(tool_calls) ? tool_calls : [];
  return [...contents, ...textsOfToolCalls(calls), ...textsOfToolCall(function_call)];
}

function findProblem(value: unknown): ElementProblem | null {
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
