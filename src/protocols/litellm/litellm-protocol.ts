import { z } from 'zod';
import type { GuardService } from '../../services/guard';
import { DETAIL, type Protocol, type ProtocolOptions } from '../protocol';
import { guardrail } from './guardrail';

/** LiteLLM's generic guardrail API, by a guard. LiteLLM looks at the status of an error, and at no more of it. */
export function liteLlmOf(guarding: GuardService, surroundings: ProtocolOptions): Protocol {
  return {
    routes: [guardrail(guarding, surroundings)],
    prefix: null,
    errors: DETAIL,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'LiteLLM', description: "LiteLLM's generic guardrail API, version 1.108." },
    error: { name: 'LiteLLMError', schema: z.object({ detail: z.string() }) },
  };
}
