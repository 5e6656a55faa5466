import { z } from 'zod';
import { expected, listOf, object, string } from '../validation/fields';

/** A tool or a call of one, of which more is passed on than is read. */
export type Json = Readonly<Record<string, unknown>>;

const texts = () =>
  listOf<string>('an array of texts', (element) =>
    typeof element === 'string' ? null : { message: 'expected a string', path: [] },
  );

const objects = () =>
  listOf<Json>('an array of objects', (element) =>
    typeof element === 'object' && element !== null && !Array.isArray(element)
      ? null
      : { message: 'expected an object', path: [] },
  );

/** null as left out: LiteLLM writes all fields. */
function nullish<Schema extends z.ZodType>(
  schema: Schema,
  items: 'string' | 'object',
  what: string,
) {
  const described = { type: ['array', 'null'], items: { type: items }, description: what };
  return z
    .preprocess((value) => value ?? undefined, schema.optional())
    .optional()
    .meta(described);
}

/** Body of POST /beta/litellm_basic_guardrail_api. */
export const guardrailBody = object({
  input_type: z
    .enum(['request', 'response'], { error: expected('"request" or "response"') })
    .describe('Whether the texts go to a language model or come from one'),
  texts: nullish(texts(), 'string', 'Of all messages'),
  tools: nullish(objects(), 'object', 'Whose descriptions are looked at, too'),
  tool_calls: nullish(objects(), 'object', 'Whose arguments are looked at, too'),
  images: nullish(texts(), 'string', 'Are not looked at'),
  litellm_call_id: string().nullish().describe('Is not looked at, as other fields are not'),
});

export const guardrailAnswer = z.object({
  action: z.enum(['NONE', 'BLOCKED', 'GUARDRAIL_INTERVENED']),
  blocked_reason: z.string().optional().describe('Checks and labels, nothing of the texts'),
  texts: z.array(z.string()).optional().describe('With placeholders, where something is redacted'),
  tools: z.array(z.looseObject({})).optional().describe('The same'),
  stream_holdback_chars: z
    .array(z.int())
    .optional()
    .describe('By text, of how many code points at its end a stream waits for what follows'),
});

export type GuardrailBody = z.infer<typeof guardrailBody>;
export type GuardrailAnswer = z.infer<typeof guardrailAnswer>;
