import { z } from 'zod';

/** JSON path of field names, with `[]` after array fields: `messages[].content`. */
const TEXT_PATH = /^[A-Za-z0-9_-]+(\[\])*(\.[A-Za-z0-9_-]+(\[\])*)*$/;

const path = z.string().max(256).regex(TEXT_PATH, {
  error: 'expected names of fields with dots between them, [] behind arrays: messages[].content',
});
/** Paths of tool call arguments in chat completion messages. */
const callsOf = (message: string): readonly string[] => [
  `${message}.tool_calls[].function.arguments`,
  `${message}.tool_calls[].custom.input`,
  `${message}.function_call.arguments`,
];

const paths = (defaults: readonly string[]) =>
  z
    .array(path)
    .max(100)
    .default([...defaults]);

/** Section `ext_proc` of a guardrail policy: settings for Envoy's external processing. */
export const extProcSection = z.strictObject({
  status: z
    .int()
    .min(400)
    .max(599)
    .default(403)
    .describe('Status code of blocked requests and responses'),
  header: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, { error: 'expected lower-case letters, digits and -' })
    .default('x-guard')
    .describe('Header that reports findings in requests and responses that pass'),
  unreadable: z
    .enum(['block', 'allow'])
    .default('block')
    .describe('Action for bodies that cannot be parsed'),
  restore: z
    .boolean()
    .default(false)
    .describe('Replace placeholders in the response to a redacted request with the original text'),
  input: paths([
    ...['messages[].content', 'messages[].content[].text', 'prompt', 'prompt[]'],
    ...['input', 'input[]', 'input[].content', 'input[].content[].text', 'instructions'],
    ...callsOf('messages[]'),
    ...['input[].arguments', 'input[].input', 'input[].output', 'input[].output[].text'],
  ]).describe('Paths of texts in JSON request bodies'),
  output: paths([
    ...['choices[].message.content', 'choices[].message.content[].text', 'choices[].text'],
    ...['output[].content[].text', 'output[].arguments', 'output[].input'],
    ...callsOf('choices[].message'),
  ]).describe('Paths of texts in JSON response bodies'),
  events: paths([
    ...['choices[].delta.content', 'choices[].text', 'delta.text', 'delta.partial_json'],
    ...callsOf('choices[].delta'),
  ]).describe(
    'Paths of texts in events of text/event-stream responses. Consecutive events form one text',
  ),
});

export type ExtProcSection = z.output<typeof extProcSection>;
