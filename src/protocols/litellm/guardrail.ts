import type { GuardService } from '../../services/guard';
import { blockReason } from '../../services/guard';
import { requireListLength } from '../../services/inference';
import type { GuardAnswer } from '../../tasks/guard/answer';
import type { GuardFile } from '../../tasks/guard/file';
import { textsOfToolCalls } from '../json-text';
import { ANALYSIS_ERRORS } from '../openapi/legacy-operation';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route } from '../route';
import { type GuardrailAnswer, guardrailAnswer, guardrailBody } from './litellm-body';
import { descriptionsOf, withDescriptions } from './tools';

const EXAMPLE = {
  request: { input_type: 'request', texts: ['I am ann@example.org.'], litellm_call_id: null },
  answer: { action: 'GUARDRAIL_INTERVENED', texts: ['I am <EMAIL_1>.'] },
} as const;

const { 400: _, ...ERRORS } = ANALYSIS_ERRORS;

/** What is looked at, in this order. */
interface Parts {
  readonly texts: readonly string[];
  readonly descriptions: readonly string[];
  readonly callArguments: readonly string[];
}

/** POST /beta/litellm_basic_guardrail_api */
export function guardrail(guarding: GuardService, { listLength }: ProtocolOptions): Route {
  return {
    method: 'POST',
    path: '/beta/litellm_basic_guardrail_api',
    refusal: guarding.refusal,
    handle: async (call) => {
      const {
        input_type,
        texts = [],
        tools = [],
        tool_calls = [],
      } = parseBody(guardrailBody, call);
      const descriptions = descriptionsOf(tools);
      const callArguments = textsOfToolCalls(tool_calls);
      const all = [...texts, ...descriptions, ...callArguments];
      requireListLength(all, 'texts', listLength);
      const direction = input_type === 'request' ? 'input' : 'output';
      const answer = await guarding.check(call, { texts: all, direction });
      const told = tell(answer, { texts, descriptions, callArguments });
      const redacted = answer.texts.slice(texts.length, texts.length + descriptions.length);
      const body: GuardrailAnswer = {
        ...told,
        ...(told.action === 'GUARDRAIL_INTERVENED' &&
          descriptions.length > 0 && { tools: withDescriptions(tools, redacted) }),
        ...(direction === 'output' && heldBack(guarding.require().file, texts)),
      };
      return { body, inferences: answer.inferences };
    },
    describe: () => ({
      id: 'litellmGuardrail',
      summary: 'What a proxy of LiteLLM is to do with the texts of a request or of an answer',
      request: { name: 'LiteLLMGuardrail', schema: guardrailBody, example: EXAMPLE.request },
      answer: { name: 'LiteLLMGuardrailAnswer', schema: guardrailAnswer, example: EXAMPLE.answer },
      errors: ERRORS,
    }),
  };
}

function tell(answer: GuardAnswer, { texts, descriptions, callArguments }: Parts): GuardrailAnswer {
  if (answer.action === 'block') {
    return { action: 'BLOCKED', blocked_reason: blockReason(answer) };
  }
  if (answer.action === 'allow') return { action: 'NONE' };
  // LiteLLM takes back no arguments of calls: what cannot be redacted must not go on.
  const first = texts.length + descriptions.length;
  const isChanged = callArguments.some((text, index) => answer.texts[first + index] !== text);
  if (isChanged) {
    const findings = answer.findings.filter(({ part }) => part === null || part >= first);
    const blocking = findings.map((one) => ({ ...one, action: 'block' as const }));
    const reason = blockReason({ findings: blocking, errors: [], notLookedAt: [] });
    const where = 'In the arguments of a tool call, which cannot be redacted.';
    return { action: 'BLOCKED', blocked_reason: `${reason} ${where}` };
  }
  return { action: 'GUARDRAIL_INTERVENED', texts: answer.texts.slice(0, texts.length) };
}

/** Of a stream LiteLLM asks again and again, each time from its beginning. */
function heldBack({ checks, streams }: GuardFile, texts: readonly string[]) {
  const isRedacting = checks.some(({ action, on }) => action === 'redact' && on !== 'input');
  if (!isRedacting || texts.length === 0) return {};
  return { stream_holdback_chars: texts.map(() => streams.held_back) };
}
