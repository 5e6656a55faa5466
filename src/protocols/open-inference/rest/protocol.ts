import type { Request, RequestHandler, Response } from 'express';
import { contextOf } from '../../../http/request-context';
import { sendJson } from '../../../http/send-json';
import { type ServiceError, STATUS } from '../../../serving/errors';
import { type Endpoint, type EndpointLimits, inferOptions } from '../../endpoint';
import type { ErrorShape } from '../../error-shape';
import type { Protocol } from '../../protocol';
import { grpcService } from '../grpc/service';
import { infer } from '../infer';
import { readInferRequest } from '../request-body';
import type { ServedModel } from '../served-model';
import { sendInference } from './answer';
import { describePaths, describeSchemas, TAG } from './openapi';

const LIVE = '/v2/health/live';
const READY = '/v2/health/ready';

/** The protocol over HTTP, as tritonclient.http speaks it. */
export function openInference(served: ServedModel, { listLength }: EndpointLimits): Protocol {
  return {
    endpoints: served.paths.map((path) => inferEndpoint(`${path}/infer`, served)),
    gets: {
      '/v2': answer(() => served.describeServer()),
      [LIVE]: answer(() => ({ live: true })),
      [READY]: answer((response) => requireReadiness(response, { ready: true })),
      '/v2/models/stats': answer(() => served.describeStatistics()),
      ...Object.assign({}, ...served.paths.map((path) => modelGets(path, served))),
    },
    prefix: '/v2/',
    errors: errorsOf(served),
    probes: [LIVE, READY],
    info: null,
    grpc: () => grpcService(served, listLength),
    describe: () => ({
      tag: TAG,
      paths: describePaths(served),
      schemas: describeSchemas(served),
    }),
  };
}

function modelGets(path: string, served: ServedModel): Readonly<Record<string, RequestHandler>> {
  return {
    [path]: answer(() => served.describeMetadata()),
    [`${path}/ready`]: answer((response) =>
      requireReadiness(response, { name: served.name, ready: true }),
    ),
    [`${path}/config`]: answer(() => served.describeConfiguration()),
    [`${path}/stats`]: answer(() => served.describeStatistics()),
  };
}

function answer(describe: (response: Response) => object | Promise<object>): RequestHandler {
  return async (_request: Request, response: Response) =>
    sendJson(response, 200, await describe(response));
}

function requireReadiness(response: Response, body: object): object {
  const problem = contextOf(response).readiness();
  if (problem) throw problem;
  return body;
}

function inferEndpoint(path: string, served: ServedModel): Endpoint {
  return {
    path,
    body: 'bytes',
    refusal: (timeoutMs) => served.modelIfLoaded?.refusal(timeoutMs) ?? null,
    handle: async (request: Request, response: Response) => {
      const header = request.headers['inference-header-content-length'];
      const asked = readInferRequest(request.body as Buffer, header?.toString());
      const { model } = served;
      const context = contextOf(response);
      context.timeoutMs = Math.min(context.timeoutMs, asked.timeoutMs ?? Number.POSITIVE_INFINITY);
      const answered = await infer(model, asked, () => inferOptions(response));
      await sendInference(response, served.name, asked, answered);
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
