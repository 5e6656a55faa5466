import { z } from 'zod';
import { codePointCounter } from '../../lib/code-points';
import { requireListLength } from '../../services/inference';
import type { PiiService } from '../../services/pii';
import { ElementError, ServiceError } from '../../serving/errors';
import type { AdHocRecognizer } from '../../tasks/pii/analyze';
import type { PiiResult } from '../../tasks/pii/results';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  boolean,
  boundedArray,
  checked,
  expected,
  findListProblem,
  findStringProblem,
  object,
  string,
} from '../validation/fields';

const MAX_TEXT = 100_000;
const MAX_RECOGNIZERS = 32;
const MAX_PATTERNS = 64;
const MAX_PATTERN = 10_000;
const MAX_WORDS = 1024;
const DEFAULT_FLAGS = 26;

const texts = checked(
  (value) =>
    typeof value === 'string'
      ? null
      : findListProblem(value, 'a string or an array of strings', findStringProblem),
  (value) => value as string | readonly string[],
).meta({
  description: 'A text, or a list of texts',
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
});

const words = () =>
  checked(
    (value) => {
      const problem = findListProblem(value, 'an array of strings', findStringProblem);
      if (problem) return problem;
      const { length } = value as readonly string[];
      return length <= MAX_WORDS
        ? null
        : { message: `expected at most ${MAX_WORDS} strings`, path: [] };
    },
    (value) => value as readonly string[],
  ).meta({ type: 'array', items: { type: 'string' }, maxItems: MAX_WORDS });

/** Problem of an array that is longer than the limit. */
const atMost = (limit: number) => (value: unknown) => {
  if (!Array.isArray(value)) return { message: expected('an array')({ input: value }), path: [] };
  return value.length <= limit ? null : { message: `expected at most ${limit} elements`, path: [] };
};

const score = () =>
  z
    .number({ error: expected('a number from 0 to 1') })
    .min(0)
    .max(1);

const pattern = object({
  name: string(),
  regex: string().max(MAX_PATTERN).describe('Regular expression in the syntax of Python'),
  score: score(),
});

const recognizer = object({
  name: string().nullish(),
  supported_entity: string(),
  supported_language: string().nullish(),
  patterns: boundedArray(pattern, atMost(MAX_PATTERNS)).nullish(),
  deny_list: words().nullish(),
  deny_list_score: score().nullish(),
  context: words().nullish(),
});

const request = object({
  text: texts,
  language: string().describe('Only "en"'),
  entities: words().nullish().describe('Entities to find. Default: all'),
  correlation_id: string().nullish().describe('Ignored'),
  score_threshold: score().nullish().describe('Minimum score of a result. Default: 0'),
  return_decision_process: boolean().nullish(),
  ad_hoc_recognizers: boundedArray(recognizer, atMost(MAX_RECOGNIZERS)).nullish(),
  context: words().nullish().describe('Words that count as context of every result'),
  allow_list: words().nullish().describe('Results to leave out'),
  allow_list_match: z.enum(['exact', 'regex']).nullish(),
  regex_flags: z
    .int()
    .min(0)
    .max(1023)
    .nullish()
    .describe('Flags of `re` for allow_list. Default: 26'),
});

const result = z.object({
  analysis_explanation: z.looseObject({}).nullable(),
  end: z.int(),
  entity_type: z.string(),
  score: z.number(),
  start: z.int(),
});
const results = z.array(result);

const examples = {
  request: { text: 'Mail ann@example.org', language: 'en' },
  response: [
    { analysis_explanation: null, end: 20, entity_type: 'EMAIL_ADDRESS', score: 1, start: 5 },
    { analysis_explanation: null, end: 20, entity_type: 'URL', score: 0.5, start: 9 },
  ],
};

/** POST /presidio/analyze: personal data in a text or a list of texts. Offsets count code points, as in Python. */
export function analyze(pii: PiiService, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/presidio/analyze',
    operationId: 'presidioAnalyze',
    summary: 'Personal data in a text',
    request,
    response: z.union([results, z.array(results)]),
    examples,
    errors: [...MODEL_ERRORS, 'REQUEST_INVALID', 'INPUT_EMPTY', 'INPUT_TOO_LONG', 'LIST_TOO_LONG'],
    handler: async (call, body) => {
      const isList = typeof body.text !== 'string';
      const all = (isList ? body.text : [body.text]) as readonly string[];
      requireListLength(all, 'text', listLength);
      requireLanguage(body.language);
      for (const [index, text] of all.entries())
        requireText(text, isList ? `text[${index}]` : 'text');
      const { results, inferences } = await pii.analyze(call, all, {
        entities: body.entities?.length ? body.entities : null,
        adHoc: (body.ad_hoc_recognizers ?? []).map(toRecognizer),
        context: body.context ?? [],
        threshold: body.score_threshold ?? 0,
        allowList: body.allow_list ?? [],
        allowListFlags:
          body.allow_list_match === 'regex' ? (body.regex_flags ?? DEFAULT_FLAGS) : null,
      });
      const explains = body.return_decision_process ?? false;
      const answers = results.map((own, index) => toAnswer(own, all[index] as string, explains));
      return { body: isList ? answers : (answers[0] as object), inferences };
    },
  });
}

function requireLanguage(language: string): void {
  if (language === 'en') return;
  throw new ServiceError(
    'REQUEST_INVALID',
    `language: No matching recognizers were found to serve the request: expected "en", received ${JSON.stringify(language.slice(0, 20))}.`,
  );
}

function requireText(text: string, field: string): void {
  if (text === '')
    throw new ElementError(field, new ServiceError('INPUT_EMPTY', 'No text provided'));
  if (text.length <= MAX_TEXT) return;
  const message = `expected at most ${MAX_TEXT} characters, found ${text.length}. Divide the text`;
  throw new ElementError(field, new ServiceError('INPUT_TOO_LONG', message));
}

function toRecognizer({
  name,
  supported_entity: entity,
  patterns,
  deny_list,
  deny_list_score,
  context,
}: z.output<typeof recognizer>): AdHocRecognizer {
  const terms = (deny_list ?? []).map(escaped);
  const denied = {
    name: 'deny_list',
    regex: `(?:^|(?<=\\W))(${terms.join('|')})(?:(?=\\W)|$)`,
    score: deny_list_score ?? 1,
  };
  return {
    name: name ?? 'PatternRecognizer',
    entity,
    patterns: [...(patterns ?? []), ...(terms.length > 0 ? [denied] : [])],
    context: context ?? [],
  };
}

const escaped = (term: string) => term.replaceAll(/[.*+?^${}()|[\]\\#&\-~\s]/g, '\\$&');

function toAnswer(
  found: readonly PiiResult[],
  text: string,
  explains: boolean,
): z.output<typeof results> {
  const toCodePoint = codePointCounter(text);
  const ordered = [...new Set(found.flatMap(({ start, end }) => [start, end]))].sort(
    (a, b) => a - b,
  );
  const points = new Map(ordered.map((offset) => [offset, toCodePoint(offset)]));
  return found.map(({ entity, start, end, score, explanation }) => ({
    analysis_explanation: explains ? { ...explanation } : null,
    end: points.get(end) as number,
    entity_type: entity,
    score,
    start: points.get(start) as number,
  }));
}
