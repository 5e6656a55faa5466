import { z } from 'zod';
import type { GuardService } from '../../services/guard';
import { ERRORS } from '../../serving/errors';
import type { ErrorShape, Protocol, ProtocolOptions } from '../protocol';
import { chat, contents, generation } from './detectors';

/** As the orchestrator reads them. */
const errors: ErrorShape = {
  status: (code) => ERRORS[code].http,
  body: ({ code, message }) => ({ code: ERRORS[code].http, message }),
};

const errorAnswer = z.object({ code: z.int().describe('The status'), message: z.string() });

/**
 * The detectors' API of the FMS guardrails orchestrator, which TrustyAI and OpenShift AI run, by a guard.
 * https://github.com/foundation-model-stack/fms-guardrails-orchestrator, docs/api/openapi_detector_api.yaml
 */
export function detectorsOf(guarding: GuardService, surroundings: ProtocolOptions): Protocol {
  return {
    routes: [contents, generation, chat].map((of) => of(guarding, surroundings)),
    prefix: '/api/v1/text/',
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'detectors', description: "The guardrails orchestrator's API of detectors." },
    error: { name: 'DetectorError', schema: errorAnswer },
  };
}
