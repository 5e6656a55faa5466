import { z } from 'zod';
import { blockReason, type GuardService } from '../../services/guard';
import { requireListLength } from '../../services/inference';
import type { GuardFile } from '../../tasks/guard/guard-file';
import type { GuardResult } from '../../tasks/guard/guard-result';
import { textsOfToolCalls } from '../json-text';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { DETAIL_FORMAT, type Protocol, type ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { expected, listOf, object, string } from '../validation/fields';

/** A tool or a tool call, whose other fields are passed through. */
type Json = Readonly<Record<string, unknown>>;

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

/** Optional list. Null counts as missing, since LiteLLM sends all fields. */
function nullish<Schema extends z.ZodType>(
  schema: Schema,
  items: 'string' | 'object',
  description: string,
) {
  return z
    .preprocess((value) => value ?? undefined, schema.optional())
    .optional()
    .meta({ type: ['array', 'null'], items: { type: items }, description });
}

const request = object({
  input_type: z
    .enum(['request', 'response'], { error: expected('"request" or "response"') })
    .describe('Whether the texts go to a language model or come from one'),
  texts: nullish(texts(), 'string', 'Texts of all messages'),
  tools: nullish(objects(), 'object', 'Tools, whose descriptions are checked'),
  tool_calls: nullish(objects(), 'object', 'Tool calls, whose arguments are checked'),
  images: nullish(texts(), 'string', 'Ignored'),
  litellm_call_id: string().nullish().describe('Ignored, as all other fields'),
});

const response = z.object({
  action: z.enum(['NONE', 'BLOCKED', 'GUARDRAIL_INTERVENED']),
  blocked_reason: z
    .string()
    .optional()
    .describe('Checks and labels, without any part of the texts'),
  texts: z.array(z.string()).optional().describe('The texts, with placeholders for redacted parts'),
  tools: z.array(z.looseObject({})).optional().describe('The tools, with redacted descriptions'),
  stream_holdback_chars: z
    .array(z.int())
    .optional()
    .describe('Code points per text that a stream holds back at its end'),
});
type GuardrailResponse = z.infer<typeof response>;

const examples = {
  request: { input_type: 'request', texts: ['I am ann@example.org.'], litellm_call_id: null },
  response: { action: 'GUARDRAIL_INTERVENED', texts: ['I am <EMAIL_1>.'] },
};

/** LiteLLM's generic guardrail API. LiteLLM reads only the status of an error. */
export function liteLlm(guard: GuardService, options: ProtocolOptions): Protocol {
  return {
    routes: [guardrail(guard, options)],
    prefix: null,
    errors: DETAIL_FORMAT,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'LiteLLM', description: "LiteLLM's generic guardrail API, version 1.108." },
    error: { name: 'LiteLLMError', schema: z.object({ detail: z.string() }) },
  };
}

function guardrail(guard: GuardService, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/beta/litellm_basic_guardrail_api',
    operationId: 'litellmGuardrail',
    summary: 'Guardrail action for the texts of a request or a response',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG'],
    admissionError: guard.admissionError,
    handler: async (call, { input_type, texts = [], tools = [], tool_calls = [] }) => {
      const descriptions = descriptionsOf(tools);
      const toolArguments = textsOfToolCalls(tool_calls);
      const all = [...texts, ...descriptions, ...toolArguments];
      requireListLength(all, 'texts', listLength);
      const direction = input_type === 'request' ? 'input' : 'output';
      const result = await guard.check(call, { texts: all, direction });
      const firstArgument = texts.length + descriptions.length;
      const body: GuardrailResponse = actionOf(result, all, {
        textCount: texts.length,
        firstArgument,
      });
      if (body.action === 'GUARDRAIL_INTERVENED' && descriptions.length > 0) {
        body.tools = withDescriptions(tools, result.texts.slice(texts.length, firstArgument));
      }
      if (direction === 'output') Object.assign(body, holdback(guard.require().file, texts));
      return { body, inferences: result.inferences };
    },
  });
}

/**
 * @param all texts, then descriptions of tools, then arguments of tool calls
 * @param firstArgument index of the first argument of a tool call
 */
function actionOf(
  result: GuardResult,
  all: readonly string[],
  { textCount, firstArgument }: { readonly textCount: number; readonly firstArgument: number },
): GuardrailResponse {
  if (result.action === 'block') return { action: 'BLOCKED', blocked_reason: blockReason(result) };
  if (result.action === 'allow') return { action: 'NONE' };
  // LiteLLM does not accept changed arguments of tool calls, so arguments that need redaction are blocked.
  const blocked = result.findings.filter(({ part }) => part === null || part >= firstArgument);
  if (all.slice(firstArgument).some((text, i) => result.texts[firstArgument + i] !== text)) {
    const findings = blocked.map((finding) => ({ ...finding, action: 'block' as const }));
    const reason = blockReason({ findings, errors: [], unchecked: [] });
    const where = 'In the arguments of a tool call, which cannot be redacted.';
    return { action: 'BLOCKED', blocked_reason: `${reason} ${where}` };
  }
  return { action: 'GUARDRAIL_INTERVENED', texts: result.texts.slice(0, textCount) };
}

/** Characters to hold back at the end of a stream, since LiteLLM checks a stream repeatedly from its beginning. */
function holdback({ checks, streams }: GuardFile, texts: readonly string[]) {
  const isRedacting = checks.some(({ action, on }) => action === 'redact' && on !== 'input');
  if (!isRedacting || texts.length === 0) return {};
  return { stream_holdback_chars: texts.map(() => streams.holdback_chars) };
}

/** Descriptions of tools and their parameters, which language models read. */
function descriptionsOf(tools: readonly Json[]): readonly string[] {
  const found: string[] = [];
  mapDescriptions(tools, (text) => {
    found.push(text);
    return text;
  });
  return found;
}

/** @param texts new descriptions, in the order of `descriptionsOf` */
function withDescriptions(tools: readonly Json[], texts: readonly string[]): Json[] {
  const left = texts.values();
  return mapDescriptions(tools, (text) => left.next().value ?? text) as Json[];
}

function mapDescriptions(value: unknown, map: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((element) => mapDescriptions(element, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      key === 'description' && typeof field === 'string' ? map(field) : mapDescriptions(field, map),
    ]),
  );
}
