import { z } from 'zod';

/** Names of fields, `[]` behind those that are arrays: `messages[].content`. */
const TEXT_PATH = /^[A-Za-z0-9_-]+(\[\])*(\.[A-Za-z0-9_-]+(\[\])*)*$/;

const path = z.string().max(256).regex(TEXT_PATH, {
  error: 'expected names of fields with dots between them, [] behind arrays: messages[].content',
});
/** Where messages of chat completions have what a model calls tools with. */
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

/** Of the file of a guard: what Envoy's external processing looks at, and says. */
export const extProcSection = z.strictObject({
  status: z.int().min(400).max(599).default(403).describe('With which what is blocked is answered'),
  header: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, { error: 'expected lower-case letters, digits and -' })
    .default('x-guard')
    .describe('Of what goes on: what was found'),
  unreadable: z
    .enum(['block', 'allow'])
    .default('block')
    .describe('What is done about bodies in which no text can be looked for'),
  restore: z
    .boolean()
    .default(false)
    .describe('Placeholders in the answer to a redacted request become what was redacted again'),
  input: paths([
    ...['messages[].content', 'messages[].content[].text', 'prompt', 'prompt[]'],
    ...['input', 'input[]', 'input[].content', 'input[].content[].text', 'instructions'],
    ...callsOf('messages[]'),
    ...['input[].arguments', 'input[].input', 'input[].output', 'input[].output[].text'],
  ]).describe('Where bodies of requests that are JSON have texts'),
  output: paths([
    ...['choices[].message.content', 'choices[].message.content[].text', 'choices[].text'],
    ...['output[].content[].text', 'output[].arguments', 'output[].input'],
    ...callsOf('choices[].message'),
  ]).describe('The same of answers'),
  events: paths([
    ...['choices[].delta.content', 'choices[].text', 'delta.text', 'delta.partial_json'],
    ...callsOf('choices[].delta'),
  ]).describe(
    'The same of each event of answers that are text/event-stream: what follows each other is one text',
  ),
});

export type ExtProcSection = z.output<typeof extProcSection>;
