import { z } from 'zod';
import { codePointCounter } from '../../lib/code-points';
import { ServiceError } from '../../serving/errors';
import {
  type Operators,
  type PiiSpan,
  replaceSpans,
  resolveConflicts,
} from '../../tasks/pii/anonymize';
import { ANONYMIZERS, DEANONYMIZERS, OperatorError } from '../../tasks/pii/operators';
import { type Route, route } from '../route';
import {
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  object,
  string,
} from '../validation/fields';

const MAX_TEXT = 1_000_000;
const MAX_RESULTS = 50_000;

interface GivenResult {
  readonly start: number;
  readonly end: number;
  readonly entity_type: string;
  readonly score?: number | null;
}

const isOffset = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;

function findResultProblem(value: unknown): ElementProblem | null {
  if (typeof value !== 'object' || value === null) {
    return { message: expected('an object')({ input: value }), path: [] };
  }
  const { start, end, entity_type, score = null } = value as Record<string, unknown>;
  const problem = (key: string, input: unknown, what: string) => ({
    message: expected(what)({ input }),
    path: [key],
  });
  if (!isOffset(start)) return problem('start', start, 'an offset in code points');
  if (!isOffset(end)) return problem('end', end, 'an offset in code points');
  if (typeof entity_type !== 'string') return problem('entity_type', entity_type, 'a string');
  return score === null || typeof score === 'number' ? null : problem('score', score, 'a number');
}

const resultList = (description: string) =>
  checked(
    (value) => {
      const problem = findListProblem(value, 'an array of results', findResultProblem);
      if (problem) return problem;
      const { length } = value as readonly unknown[];
      const message = `expected at most ${MAX_RESULTS} results, found ${length}`;
      return length <= MAX_RESULTS ? null : { message, path: [] };
    },
    (value) => value as readonly GivenResult[],
  ).meta({
    description,
    type: 'array',
    maxItems: MAX_RESULTS,
    items: {
      type: 'object',
      required: ['start', 'end', 'entity_type'],
      properties: {
        start: { type: 'integer', minimum: 0 },
        end: { type: 'integer', minimum: 0 },
        entity_type: { type: 'string' },
        score: { type: ['number', 'null'] },
      },
    },
  });

function findOperatorProblem(value: unknown): ElementProblem | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { message: expected('an object of operators')({ input: value }), path: [] };
  }
  for (const [entity, operator] of Object.entries(value)) {
    const type = (operator as { readonly type?: unknown } | null)?.type;
    if (typeof type === 'string') continue;
    return {
      message: expected('the name of an operator')({ input: type }),
      path: [entity, 'type'],
    };
  }
  return null;
}

const operators = () =>
  checked(findOperatorProblem, (value) => value as Operators).meta({
    description: 'Operator and its parameters by entity; DEFAULT: of the other entities',
    type: 'object',
    additionalProperties: {
      type: 'object',
      required: ['type'],
      properties: { type: { type: 'string' } },
    },
  });

const anonymizeRequest = object({
  text: string(),
  analyzer_results: resultList('Results of /presidio/analyze'),
  anonymizers: operators().nullish(),
});

const deanonymizeRequest = object({
  text: string(),
  anonymizer_results: resultList('Items of /presidio/anonymize'),
  deanonymizers: operators(),
});

const response = z.object({
  text: z.string(),
  items: z.array(
    z.object({
      start: z.int(),
      end: z.int(),
      entity_type: z.string(),
      text: z.string(),
      operator: z.string(),
      score: z.number().nullable().optional(),
    }),
  ),
});

const examples = {
  request: {
    text: 'Mail ann@example.org',
    analyzer_results: [{ start: 5, end: 20, score: 1, entity_type: 'EMAIL_ADDRESS' }],
  },
  response: {
    text: 'Mail <EMAIL_ADDRESS>',
    items: [
      {
        start: 5,
        end: 20,
        entity_type: 'EMAIL_ADDRESS',
        text: '<EMAIL_ADDRESS>',
        operator: 'replace',
        score: 1,
      },
    ],
  },
};

/** POST /presidio/anonymize: replaces the results of an analysis. */
export function anonymize(): Route {
  return route({
    method: 'POST',
    path: '/presidio/anonymize',
    operationId: 'presidioAnonymize',
    summary: 'Replace personal data',
    request: anonymizeRequest,
    response,
    examples,
    errors: ['REQUEST_INVALID', 'INPUT_EMPTY', 'INPUT_TOO_LONG', 'BODY_INVALID'],
    handler: (_, { text, analyzer_results, anonymizers }) => {
      const spans = toSpans(text, analyzer_results, 'analyzer_results');
      const resolved = resolveConflicts(text, spans);
      const body = replaced(text, resolved, {
        operators: anonymizers ?? {},
        table: ANONYMIZERS,
        fallback: 'replace',
      });
      return { body };
    },
  });
}

/** POST /presidio/deanonymize: restores encrypted entities. */
export function deanonymize(): Route {
  return route({
    method: 'POST',
    path: '/presidio/deanonymize',
    operationId: 'presidioDeanonymize',
    summary: 'Restore encrypted personal data',
    request: deanonymizeRequest,
    response,
    examples: null,
    errors: ['REQUEST_INVALID', 'INPUT_EMPTY', 'INPUT_TOO_LONG', 'BODY_INVALID'],
    handler: (_, { text, anonymizer_results, deanonymizers }) => {
      const spans = toSpans(text, anonymizer_results, 'anonymizer_results');
      const body = replaced(text, spans, {
        operators: deanonymizers,
        table: DEANONYMIZERS,
        fallback: 'deanonymize_keep',
      });
      return { body };
    },
  });
}

/** Spans in UTF-16 units. @throws ServiceError */
function toSpans(text: string, results: readonly GivenResult[], field: string): readonly PiiSpan[] {
  if (text === '') throw new ServiceError('INPUT_EMPTY', 'Invalid input, text can not be empty');
  if (text.length > MAX_TEXT) {
    throw new ServiceError('INPUT_TOO_LONG', `text: expected at most ${MAX_TEXT} characters`);
  }
  const units = unitsOf(text);
  const unitAt = (point: number) => (units === null ? point : (units[point] as number));
  const length = units === null ? text.length : units.length - 1;
  return results.map(({ start, end, entity_type: entity, score }, index) => {
    if (start > end || end > length) {
      const message = `${field}[${index}]: Invalid analyzer result, start: ${start} and end: ${end}, while text length is only ${length}.`;
      throw new ServiceError('REQUEST_INVALID', message);
    }
    return { start: unitAt(start), end: unitAt(end), entity, score: score ?? null };
  });
}

/** Offset in UTF-16 units of each code point and of the end; null: the offsets are equal. */
function unitsOf(text: string): Uint32Array | null {
  if (!/[\ud800-\udbff]/.test(text)) return null;
  const points = [...text];
  const units = new Uint32Array(points.length + 1);
  for (const [index, point] of points.entries()) {
    units[index + 1] = (units[index] as number) + point.length;
  }
  return units;
}

function replaced(
  text: string,
  spans: readonly PiiSpan[],
  options: Parameters<typeof replaceSpans>[2],
): z.output<typeof response> {
  try {
    const result = replaceSpans(text, spans, options);
    const toCodePoint = codePointCounter(result.text);
    const offsets = result.items.flatMap(({ start, end }) => [start, end]);
    const ordered = [...new Set(offsets)].sort((a, b) => a - b);
    const points = new Map(ordered.map((unit) => [unit, toCodePoint(unit)]));
    return {
      text: result.text,
      items: result.items.map(({ start, end, entity, ...item }) => ({
        start: points.get(start) as number,
        end: points.get(end) as number,
        entity_type: entity,
        ...item,
      })),
    };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new ServiceError('BODY_INVALID', error.message);
  }
}
