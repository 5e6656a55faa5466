import { z } from 'zod';
import { roundToFourDecimals } from '../../lib/numbers';
import type { GuardService } from '../../services/guard';
import { requireListLength } from '../../services/inference';
import { ServiceError } from '../../serving/errors';
import { type GuardFile, guardFile, guardSchema } from '../../tasks/guard/guard-file';
import type { Finding, GuardResult } from '../../tasks/guard/guard-result';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { Node } from '../openapi/responses';
import { DETAIL_FORMAT, DETAIL_SCHEMA, type Protocol, type ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { boolean, expected, object, string, stringList } from '../validation/fields';

const request = object({
  text: string().optional().describe('One text. Send either text or texts'),
  texts: stringList('an array of texts', {
    description:
      'Parts of one message, or messages. The guardrail checks each text and the joined texts',
  }).optional(),
  direction: z
    .enum(['input', 'output'], { error: expected('"input" or "output"') })
    .nullish()
    .describe('Input or output of a language model. Default: input'),
  map: boolean().nullish().describe('Whether the response contains the texts behind placeholders'),
  scores: boolean()
    .nullish()
    .describe(
      'Whether the response contains scores below the thresholds of flagged labels. Then no check is skipped',
    ),
});

const index = (description: string) => z.int().nullable().describe(description);

const finding = z.object({
  check: z.string().describe('Name of the check in the guardrail policy'),
  label: z.string(),
  score: z.number().describe('Rounded to four decimals; 1 for patterns'),
  part: index('Index of the text; null: the joined texts'),
  start: index('Start offset in UTF-16 code units; null: the whole text'),
  end: index('End offset in UTF-16 code units, exclusive'),
  variant: z
    .string()
    .describe('Which normalized form of the text was checked; `text` means the original text'),
  action: z.enum(['block', 'redact', 'flag']),
});

const response = z.object({
  action: z
    .enum(['allow', 'redact', 'block'])
    .describe('redact: use `texts` instead of the texts of the request'),
  findings: z.array(finding).describe('In the order of the texts'),
  scores: z
    .array(
      finding.extend({
        single_part_score: z
          .number()
          .nullable()
          .describe(
            'For a finding in the joined texts: highest score of a single text for the same label and position. If it reaches the threshold, `findings` omits this finding',
          ),
      }),
    )
    .optional()
    .describe(
      'The findings that a threshold of 0 everywhere would give, in the same order as `findings`',
    ),
  texts: z.array(z.string()).describe('Texts with placeholders for redacted parts'),
  map: z.record(z.string(), z.string()).optional().describe('Original text by placeholder'),
  errors: z
    .array(z.object({ check: z.string(), reason: z.string(), action: z.enum(['block', 'allow']) }))
    .describe('Checks that failed'),
  unchecked: z
    .array(
      z.object({
        check: z.string().nullable().describe('null: all checks'),
        part: index('Index of the text; null: any text'),
        start: index('Start offset of the unchecked part; null: anywhere'),
        limit: z.string().describe('Limit in the guardrail policy'),
        action: z.enum(['block', 'flag']),
      }),
    )
    .describe('Parts that were not checked because of a limit'),
  skipped: z.array(z.string()).describe('Checks that were skipped because another check blocked'),
});

export type GuardResponse = z.infer<typeof response>;
/** Response of GET /guard/file. */
export type GuardFileResponse = GuardFile;

const examples = {
  request: { text: 'I am ann@example.org.', direction: 'input', map: true },
  response: {
    action: 'redact',
    findings: [
      {
        check: 'personal data',
        label: 'EMAIL',
        score: 1,
        part: 0,
        start: 5,
        end: 20,
        variant: 'text',
        action: 'redact',
      },
    ],
    texts: ['I am <EMAIL_1>.'],
    map: { '<EMAIL_1>': 'ann@example.org' },
    errors: [],
    unchecked: [],
    skipped: [],
  },
} as const;

/** The guardrail of a model repository: POST /guard, GET /guard/file and GET /guard/schema. */
export function guardOf(guard: GuardService, options: ProtocolOptions): Protocol {
  return {
    routes: [check(guard, options), schema, file(guard)],
    prefix: null,
    errors: DETAIL_FORMAT,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'guard', description: 'Guardrail for inputs and outputs of language models.' },
    error: DETAIL_SCHEMA,
  };
}

/** POST /guard: checks texts. */
function check(guard: GuardService, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/guard',
    operationId: 'guard',
    summary: 'Check texts with the guardrail',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG'],
    admissionError: guard.admissionError,
    handler: async (call, body) => {
      const texts = textsOf(body);
      requireListLength(texts, 'texts', listLength);
      const direction = body.direction ?? 'input';
      const result = await guard.check(call, { texts, direction, scores: body.scores ?? false });
      return { body: toResponse(result, body.map ?? false), inferences: result.inferences };
    },
  });
}

/** GET /guard/file: the guardrail policy. The API key must include the models of its checks. */
function file(guard: GuardService): Route {
  return route({
    method: 'GET',
    path: '/guard/file',
    operationId: 'guardFile',
    tag: 'operation',
    summary: 'Guardrail policy with its default values',
    response: () => z.toJSONSchema(guardFile, { io: 'output' }) as Node,
    errors: ['MODEL_NOT_LOADED'],
    handler: ({ access }) => {
      const { file } = guard.require();
      const models = access.canUseGuard ? [] : file.checks.filter((check) => 'model' in check);
      for (const { model } of models) access.require({ model });
      return { body: file };
    },
  });
}

/** GET /guard/schema: the JSON Schema of guardrail policies. */
const schema = route({
  method: 'GET',
  path: '/guard/schema',
  operationId: 'guardSchema',
  tag: 'operation',
  summary: 'JSON Schema (draft 2020-12) of guardrail policies',
  response: { type: 'object' },
  handler: () => ({ body: guardSchema() }),
});

/** @throws ServiceError BODY_INVALID */
function textsOf({ text, texts }: z.output<typeof request>): readonly string[] {
  if (text !== undefined && texts === undefined) return [text];
  if (texts !== undefined && text === undefined) return texts;
  const message = text === undefined ? 'text: is required' : 'text, texts: send one, not both';
  throw new ServiceError('BODY_INVALID', message);
}

function toResponse(result: GuardResult, hasMap: boolean): GuardResponse {
  const { action, findings, scores, texts, map, errors, unchecked, skipped } = result;
  return {
    action,
    findings: findings.map(rounded),
    ...(scores && {
      scores: scores.map(({ singlePartScore, ...scored }) => ({
        ...rounded(scored),
        single_part_score: singlePartScore === null ? null : roundToFourDecimals(singlePartScore),
      })),
    }),
    texts: [...texts],
    ...(hasMap && { map }),
    errors: [...errors],
    unchecked: [...unchecked],
    skipped: [...skipped],
  };
}

function rounded(finding: Finding): GuardResponse['findings'][number] {
  return { ...finding, score: roundToFourDecimals(finding.score) };
}
