import { z } from 'zod';
import { codePointCounter } from '../../lib/code-points';
import { type GuardService, requireChecked } from '../../services/guard';
import { requireListLength } from '../../services/inference';
import { ERRORS, ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { Finding, GuardRequest, GuardResult } from '../../tasks/guard/guard-result';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { ErrorFormat, Protocol, ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  expected,
  listOf,
  MAX_NAMES,
  MAX_REPEATED,
  nameList,
  object,
  string,
} from '../validation/fields';
import { chatMessages, textsOf } from './chat-messages';

/** Error format of the orchestrator. */
const errors: ErrorFormat = {
  status: (code) => ERRORS[code].http,
  body: ({ code, message }) => ({ code: ERRORS[code].http, message }),
};
const errorResponse = z.object({ code: z.int().describe('HTTP status'), message: z.string() });

/**
 * Detectors API of the FMS guardrails orchestrator, which is part of TrustyAI and OpenShift AI.
 * https://github.com/foundation-model-stack/fms-guardrails-orchestrator, docs/api/openapi_detector_api.yaml
 */
export function detectors(guard: GuardService, options: ProtocolOptions): Protocol {
  return {
    routes: [contents(guard, options), generation(guard), chat(guard, options)],
    prefix: '/api/v1/text/',
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'detectors', description: "The guardrails orchestrator's API of detectors." },
    error: { name: 'DetectorError', schema: errorResponse },
  };
}

const detectorParams = object({
  checks: nameList('an array of names')
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string', maxLength: MAX_REPEATED },
      maxItems: MAX_NAMES,
      description: 'Names of checks of the guard. Default: all checks of the direction',
    }),
  direction: z
    .enum(['input', 'output', 'both'], { error: expected('"input", "output" or "both"') })
    .optional()
    .describe('Direction of the checks: texts that go to a language model or come from one'),
})
  .nullish()
  .describe('Other fields are ignored');
type DetectorParams = z.output<typeof detectorParams>;

const detection = {
  detection: z.string().describe('Label'),
  detection_type: z.string().describe('Name of the check'),
  score: z.number().describe('1 for patterns'),
};
const EMAIL = { detection: 'EMAIL', detection_type: 'personal data', score: 1 };

const detectionsResponse = z.array(
  z.object({
    ...detection,
    evidence: z
      .array(z.object({ name: z.string(), value: z.string() }))
      .describe('Name of the text (`generated_text`, `messages[3]`) and the matching part'),
  }),
);

const ROUTE_ERRORS = [...MODEL_ERRORS, 'NOT_FOUND', 'INPUT_TOO_LONG'] as const;

const contentsRequest = object({
  contents: listOf<string>('an array of texts', (value) =>
    typeof value === 'string' ? null : { message: 'expected a string', path: [] },
  ).meta({
    type: 'array',
    items: { type: 'string' },
    description: 'Texts, which are checked independently',
  }),
  detector_params: detectorParams,
});
const contentsResponse = z
  .array(
    z.array(
      z.object({
        start: z.int().describe('Start offset in the content, in code points'),
        end: z.int().describe('End offset, exclusive'),
        text: z.string(),
        ...detection,
      }),
    ),
  )
  .describe('Detections per content');

function contents(guard: GuardService, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/api/v1/text/contents',
    operationId: 'detectContents',
    summary: 'Findings of the guard in each text',
    request: contentsRequest,
    response: contentsResponse,
    examples: {
      request: { contents: ['I am ann@example.org.'], detector_params: {} },
      response: [[{ start: 5, end: 20, text: 'ann@example.org', ...EMAIL }]],
    },
    errors: [...ROUTE_ERRORS, 'LIST_TOO_LONG'],
    admissionError: guard.admissionError,
    handler: async (call, { contents: texts, detector_params }) => {
      requireListLength(texts, 'contents', listLength);
      const options = checkOptions(guard, detector_params, 'both');
      const results = await Promise.all(
        texts.map((text) => detect(guard, call, { ...options, texts: [text] })),
      );
      return {
        body: results.map(({ findings }, index) => detectionsIn(texts[index] as string, findings)),
        inferences: results.flatMap(({ inferences }) => inferences),
      };
    },
  });
}

const generationRequest = object({
  prompt: string().describe('Ignored'),
  generated_text: string(),
  detector_params: detectorParams,
});

function generation(guard: GuardService): Route {
  return route({
    method: 'POST',
    path: '/api/v1/text/generation',
    operationId: 'detectGeneration',
    summary: 'Findings of the guard in a generated text',
    request: generationRequest,
    response: detectionsResponse,
    examples: {
      request: { prompt: 'Who are you?', generated_text: 'I am ann@example.org.' },
      response: [{ ...EMAIL, evidence: [{ name: 'generated_text', value: 'ann@example.org' }] }],
    },
    errors: ROUTE_ERRORS,
    admissionError: guard.admissionError,
    handler: async (call, { generated_text: text, detector_params }) => {
      const options = checkOptions(guard, detector_params, 'output');
      const { findings, inferences } = await detect(guard, call, { ...options, texts: [text] });
      const source = { name: 'generated_text', text };
      return { body: findings.map((finding) => withEvidence(finding, source)), inferences };
    },
  });
}

const chatRequest = object({ messages: chatMessages, detector_params: detectorParams });

function chat(guard: GuardService, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/api/v1/text/chat',
    operationId: 'detectChat',
    summary: 'Findings of the guard in the messages of a chat',
    request: chatRequest,
    response: detectionsResponse,
    examples: {
      request: { messages: [{ role: 'user', content: 'I am ann@example.org.' }] },
      response: [{ ...EMAIL, evidence: [{ name: 'messages[0]', value: 'ann@example.org' }] }],
    },
    errors: [...ROUTE_ERRORS, 'LIST_TOO_LONG'],
    admissionError: guard.admissionError,
    handler: async (call, { messages, detector_params }) => {
      const parts = messages.flatMap((message, index) =>
        textsOf(message).map((text) => ({ name: `messages[${index}]`, text })),
      );
      requireListLength(parts, 'messages', listLength);
      const texts = parts.map(({ text }) => text);
      const options = checkOptions(guard, detector_params, 'both');
      const { findings, inferences } = await detect(guard, call, { ...options, texts });
      const body = findings.map((finding) =>
        withEvidence(finding, finding.part === null ? null : (parts[finding.part] ?? null)),
      );
      return { body, inferences };
    },
  });
}

/** @throws ServiceError NOT_FOUND: the guard does not have a check; the message lists its checks */
function checkOptions(
  guard: GuardService,
  params: DetectorParams,
  direction: GuardRequest['direction'],
): Omit<GuardRequest, 'texts'> {
  const { checks } = params ?? {};
  const names = guard.require().file.checks.map(({ name }) => name);
  const unknown = checks?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const list = names.map((name) => `"${name}"`).join(', ');
    const message = `detector_params.checks: the guard has no check "${unknown}". Checks: ${list}.`;
    throw new ServiceError('NOT_FOUND', message);
  }
  return { direction: params?.direction ?? direction, checks };
}

/** @throws ServiceError as `requireChecked` */
async function detect(
  guard: GuardService,
  call: ServiceRequest,
  question: GuardRequest,
): Promise<GuardResult> {
  const result = await guard.check(call, question);
  requireChecked(result);
  return result;
}

/** Offsets are in code points, as in the orchestrator. */
function detectionsIn(text: string, findings: readonly Finding[]) {
  const pointOf = codePointCounter(text);
  return findings.map((finding) => {
    const start = finding.start ?? 0;
    const end = finding.end ?? text.length;
    const offsets = { start: pointOf(start), end: pointOf(end) };
    return { ...offsets, text: text.slice(start, end), ...detectionOf(finding) };
  });
}

/** @param source text of the finding; null: the finding is in all texts together */
function withEvidence(
  finding: Finding,
  source: { readonly name: string; readonly text: string } | null,
) {
  const value = source?.text.slice(finding.start ?? 0, finding.end ?? source.text.length);
  const evidence = source && value !== undefined ? [{ name: source.name, value }] : [];
  return { ...detectionOf(finding), evidence };
}

function detectionOf({ check, label, score }: Finding) {
  return { detection: label, detection_type: check, score };
}
