import { type ServiceError, STATUS } from '../../../serving/errors';
import { type Served, servedAs } from '../../../tasks/served';
import type { Call, Endpoint, Handler } from '../../endpoint';
import type { ErrorShape } from '../../error-shape';
import type { Protocol, Surroundings } from '../../protocol';
import { grpcService } from '../grpc/service';
import { readInferRequest } from '../request-body';
import { ServedModel } from '../served-model';
import { describeInference } from './answer';
import { describePaths, describeSchemas, TAG } from './openapi';

const LIVE = '/v2/health/live';
const READY = '/v2/health/ready';

/** The protocol over HTTP, as tritonclient.http speaks it. */
export function openInference(model: Served, surroundings: Surroundings): Protocol | null {
  const classifier = servedAs(model, 'classifies texts') ?? servedAs(model, 'classifies signals');
  if (!classifier) return null;
  const served = new ServedModel(classifier, surroundings);
  return {
    endpoints: served.paths.map((path) => inferEndpoint(`${path}/infer`, served)),
    gets: {
      '/v2': answer(() => served.describeServer()),
      [LIVE]: answer(() => ({ live: true })),
      [READY]: answer((call) => requireReadiness(call, { ready: true })),
      '/v2/models/stats': answer(() => served.describeStatistics()),
      ...Object.assign({}, ...served.paths.map((path) => modelGets(path, served))),
    },
    prefix: '/v2/',
    errors: errorsOf(served),
    probes: [LIVE, READY],
    info: null,
    grpc: () => grpcService(served, surroundings.listLength),
    describe: () => ({
      tag: TAG,
      paths: describePaths(served),
      schemas: describeSchemas(served),
    }),
  };
}

function modelGets(path: string, served: ServedModel): Readonly<Record<string, Handler>> {
  return {
    [path]: answer(() => served.describeMetadata()),
    [`${path}/ready`]: answer((call) => requireReadiness(call, { name: served.name, ready: true })),
    [`${path}/config`]: answer(() => served.describeConfiguration()),
    [`${path}/stats`]: answer(() => served.describeStatistics()),
  };
}

function answer(describe: (call: Call) => object | Promise<object>): Handler {
  return async (call) => ({ body: await describe(call) });
}

function requireReadiness({ readiness }: Call, body: object): object {
  const problem = readiness();
  if (problem) throw problem;
  return body;
}

function inferEndpoint(path: string, served: ServedModel): Endpoint {
  return {
    path,
    body: 'bytes',
    refusal: (timeoutMs) => served.modelIfLoaded?.refusal(timeoutMs) ?? null,
    handle: async (call) => {
      const jsonBytes = call.header('inference-header-content-length');
      const asked = readInferRequest(call.body as Buffer, jsonBytes);
      const answered = await served.model.infer(asked, () => call.inferOptions(asked.timeoutMs));
      return describeInference(served.name, asked, answered);
    },
  };
}

/** As Triton's server does, but 504 for deadlines, which it has under 503 with all that may be tried again. */
function errorsOf({ name }: ServedModel): ErrorShape {
  return {
    status: (code) => (code === 'BODY_INVALID' ? 400 : STATUS[code]),
    body: (error: ServiceError) => ({
      error:
        error.code === 'NOT_FOUND'
          ? `There is no such path here: the model is "${name}", its one version "1".`
          : error.message,
    }),
  };
}
