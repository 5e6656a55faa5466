import { z } from 'zod';
import { roundToFourDecimals } from '../../numeric/rounding';
import { ServiceError } from '../../serving/errors';
import type { Finding, GuardAnswer } from '../../tasks/guard/answer';
import { guardFile, guardSchema } from '../../tasks/guard/file';
import type { Guarding } from '../guarding';
import { DETAIL, type Protocol, type ProtocolOptions } from '../protocol';
import { parseBody, type Route, requireListLength } from '../route';
import { errorsOf } from './own-errors';
import { errorAnswer } from './schemas/answers';
import { type GuardBody, type GuardJson, guardAnswer, guardBody } from './schemas/guard';

const EXAMPLE = {
  request: { text: 'I am ann@example.org.', direction: 'input', map: true },
  answer: {
    action: 'redact',
    findings: [
      {
        check: 'personal data',
        label: 'EMAIL',
        score: 1,
        part: 0,
        start: 5,
        end: 20,
        view: 'text',
        action: 'redact',
      },
    ],
    texts: ['I am <EMAIL_1>.'],
    map: { '<EMAIL_1>': 'ann@example.org' },
    errors: [],
    not_looked_at: [],
    skipped: [],
  },
} as const;

/** The guard of a directory of models, by our own routes. */
export function guardOf(guarding: Guarding, surroundings: ProtocolOptions): Protocol {
  return {
    routes: [guard(guarding, surroundings), schema, file(guarding)],
    prefix: null,
    errors: DETAIL,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'guard', description: 'Texts before and behind a language model.' },
    error: { name: 'Error', schema: errorAnswer },
  };
}

/** POST /guard */
function guard(guarding: Guarding, surroundings: ProtocolOptions): Route {
  return {
    method: 'POST',
    path: '/guard',
    refusal: guarding.refusal,
    handle: async (call) => {
      const body = parseBody(guardBody, call);
      const texts = textsOf(body);
      requireListLength(texts, 'texts', surroundings.listLength);
      const direction = body.direction ?? 'input';
      const scores = body.scores ?? false;
      const answer = await guarding.check(call, { texts, direction, scores });
      return { body: tell(answer, body.map ?? false), inferences: answer.inferences };
    },
    describe: () => {
      const { 400: _, ...errors } = errorsOf('', 'text', surroundings);
      return {
        id: 'guard',
        summary: 'What the checks of the guard find in texts, and the texts without it',
        request: { name: 'GuardRequest', schema: guardBody, example: EXAMPLE.request },
        answer: { name: 'GuardAnswer', schema: guardAnswer, example: EXAMPLE.answer },
        errors,
      };
    },
  };
}

/** @throws ServiceError BODY_INVALID */
function textsOf({ text, texts }: GuardBody): readonly string[] {
  if (text !== undefined && texts === undefined) return [text];
  if (texts !== undefined && text === undefined) return texts;
  const message = text === undefined ? 'text: is required' : 'texts: expected without text';
  throw new ServiceError('BODY_INVALID', message);
}

function tell(answer: GuardAnswer, hasMap: boolean): GuardJson {
  const { action, findings, scores, texts, map, errors, notLookedAt, skipped } = answer;
  return {
    action,
    findings: findings.map(rounded),
    ...(scores && {
      scores: scores.map(({ alone, ...one }) => ({
        ...rounded(one),
        alone: alone === null ? null : roundToFourDecimals(alone),
      })),
    }),
    texts: [...texts],
    ...(hasMap && { map }),
    errors: [...errors],
    not_looked_at: [...notLookedAt],
    skipped: [...skipped],
  };
}

function rounded(finding: Finding): GuardJson['findings'][number] {
  return { ...finding, score: roundToFourDecimals(finding.score) };
}

/** GET /guard/file: for those who may ask the guard. */
function file(guarding: Guarding): Route {
  return {
    method: 'GET',
    path: '/guard/file',
    handle: ({ access }) => {
      const { file } = guarding.require();
      const models = access.isGuarding ? [] : file.checks.filter((check) => 'model' in check);
      for (const { model } of models) access.require({ model });
      return { body: file };
    },
    describe: () => ({
      id: 'guardFile',
      tag: 'operation',
      summary: "The guard's file, with its defaults",
      answer: { name: 'GuardFile', schema: z.toJSONSchema(guardFile, { io: 'output' }) },
      outcome: 'What the guard is.',
      errors: {
        500: {
          description: 'The file is wrong, and how.',
          example: { detail: 'The guard is not loaded: guard.json: is not JSON' },
        },
      },
    }),
  };
}

/** GET /guard/schema */
const schema: Route = {
  method: 'GET',
  path: '/guard/schema',
  handle: () => ({ body: guardSchema() }),
  describe: () => ({
    id: 'guardSchema',
    tag: 'operation',
    summary: "JSON Schema of a guard's file",
    answer: { name: 'GuardSchema', schema: { type: 'object' } },
    outcome: 'A JSON Schema of draft 2020-12.',
    errors: {},
  }),
};
