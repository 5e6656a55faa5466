import type { GuardService } from '../../services/guard';
import { requireChecked } from '../../services/guard';
import { requireListLength } from '../../services/inference';
import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { Finding, GuardAnswer, GuardQuestion } from '../../tasks/guard/answer';
import { codePointsOf } from '../../tasks/token-classification/code-points';
import { ANALYSIS_ERRORS } from '../openapi/legacy-operation';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route } from '../route';
import {
  chatBody,
  contentsAnswer,
  contentsBody,
  type DetectorParams,
  detectionsAnswer,
  generationBody,
  textsOf,
} from './bodies';

const EMAIL = { detection: 'EMAIL', detection_type: 'personal data', score: 1 };

const ERRORS = {
  404: 'The guard has no check of this name.',
  413: ANALYSIS_ERRORS[413],
  415: ANALYSIS_ERRORS[415],
  422: 'The body is not as it should be, or not all of a text was looked at.',
  500: 'The guard is not loaded, or a check could not run that blocks then.',
  503: ANALYSIS_ERRORS[503],
  504: ANALYSIS_ERRORS[504],
};

/** POST /api/v1/text/contents */
export function contents(guarding: GuardService, { listLength }: ProtocolOptions): Route {
  return {
    method: 'POST',
    path: '/api/v1/text/contents',
    refusal: guarding.refusal,
    handle: async (call) => {
      const { contents: texts, detector_params } = parseBody(contentsBody, call);
      requireListLength(texts, 'contents', listLength);
      const asked = askedOf(guarding, detector_params, 'both');
      const answers = await Promise.all(
        texts.map((text) => detect(guarding, call, { ...asked, texts: [text] })),
      );
      return {
        body: answers.map(({ findings }, index) => detectionsIn(texts[index] as string, findings)),
        inferences: answers.flatMap(({ inferences }) => inferences),
      };
    },
    describe: () => ({
      id: 'detectContents',
      summary: 'What the checks of the guard find in each text',
      request: {
        name: 'ContentAnalysisHttpRequest',
        schema: contentsBody,
        example: { contents: ['I am ann@example.org.'], detector_params: {} },
      },
      answer: {
        name: 'ContentsAnalysisResponse',
        schema: contentsAnswer,
        example: [[{ start: 5, end: 20, text: 'ann@example.org', ...EMAIL }]],
      },
      errors: ERRORS,
    }),
  };
}

/** POST /api/v1/text/generation */
export function generation(guarding: GuardService, _: ProtocolOptions): Route {
  return {
    method: 'POST',
    path: '/api/v1/text/generation',
    refusal: guarding.refusal,
    handle: async (call) => {
      const { generated_text: text, detector_params } = parseBody(generationBody, call);
      const asked = askedOf(guarding, detector_params, 'output');
      const answer = await detect(guarding, call, { ...asked, texts: [text] });
      const name = 'generated_text';
      return {
        body: answer.findings.map((one) => withEvidence(one, { name, text })),
        inferences: answer.inferences,
      };
    },
    describe: () => ({
      id: 'detectGeneration',
      summary: 'What the checks of the guard find in what a language model has written',
      request: {
        name: 'GenerationAnalysisHttpRequest',
        schema: generationBody,
        example: { prompt: 'Who are you?', generated_text: 'I am ann@example.org.' },
      },
      answer: {
        name: 'GenerationAnalysisResponse',
        schema: detectionsAnswer,
        example: [{ ...EMAIL, evidence: [{ name: 'generated_text', value: 'ann@example.org' }] }],
      },
      errors: ERRORS,
    }),
  };
}

/** POST /api/v1/text/chat */
export function chat(guarding: GuardService, { listLength }: ProtocolOptions): Route {
  return {
    method: 'POST',
    path: '/api/v1/text/chat',
    refusal: guarding.refusal,
    handle: async (call) => {
      const { messages, detector_params } = parseBody(chatBody, call);
      const parts = messages.flatMap((message, index) =>
        textsOf(message).map((text) => ({ name: `messages[${index}]`, text })),
      );
      requireListLength(parts, 'messages', listLength);
      const asked = askedOf(guarding, detector_params, 'both');
      const texts = parts.map(({ text }) => text);
      const answer = await detect(guarding, call, { ...asked, texts });
      return {
        body: answer.findings.map((one) =>
          withEvidence(one, one.part === null ? null : (parts[one.part] ?? null)),
        ),
        inferences: answer.inferences,
      };
    },
    describe: () => ({
      id: 'detectChat',
      summary: 'What the checks of the guard find in the messages of a chat',
      request: {
        name: 'ChatAnalysisHttpRequest',
        schema: chatBody,
        example: { messages: [{ role: 'user', content: 'I am ann@example.org.' }] },
      },
      answer: {
        name: 'ChatAnalysisResponse',
        schema: detectionsAnswer,
        example: [{ ...EMAIL, evidence: [{ name: 'messages[0]', value: 'ann@example.org' }] }],
      },
      errors: ERRORS,
    }),
  };
}

/** @throws ServiceError NOT_FOUND: it lists the checks */
function askedOf(
  guarding: GuardService,
  params: DetectorParams,
  direction: GuardQuestion['direction'],
): Omit<GuardQuestion, 'texts'> {
  const { checks } = params ?? {};
  const names = guarding.require().file.checks.map(({ name }) => name);
  const other = checks?.find((name) => !names.includes(name));
  if (other !== undefined) {
    const known = names.map((name) => `"${name}"`).join(', ');
    const message = `detector_params.checks: the guard has no check "${other}": it has ${known}.`;
    throw new ServiceError('NOT_FOUND', message);
  }
  return { direction: params?.direction ?? direction, checks };
}

/** @throws ServiceError of `requireChecked` */
async function detect(
  guarding: GuardService,
  call: ServiceRequest,
  question: GuardQuestion,
): Promise<GuardAnswer> {
  const answer = await guarding.check(call, question);
  requireChecked(answer);
  return answer;
}

/** Places are code points: the orchestrator is written in Rust, and counts `chars()`. */
function detectionsIn(text: string, findings: readonly Finding[]) {
  const pointOf = codePointsOf(text);
  return findings.map((one) => {
    const start = one.start ?? 0;
    const end = one.end ?? text.length;
    const place = { start: pointOf(start), end: pointOf(end) };
    return { ...place, text: text.slice(start, end), ...tell(one) };
  });
}

/** @param source null: all texts together */
function withEvidence(
  one: Finding,
  source: { readonly name: string; readonly text: string } | null,
) {
  const value = source?.text.slice(one.start ?? 0, one.end ?? source.text.length);
  const evidence = source && value !== undefined ? [{ name: source.name, value }] : [];
  return { ...tell(one), evidence };
}

function tell({ check, label, score }: Finding) {
  return { detection: label, detection_type: check, score };
}
