import { toSchema } from '../protocols/openapi/responses';
import { DETAIL_FORMAT, DETAIL_SCHEMA, type Protocol } from '../protocols/protocol';
import { parseBody, type Route, route } from '../protocols/route';
import { requireModel } from '../services/inference';
import { ServiceError } from '../serving/errors';
import { parseJson } from '../serving/json';
import type { ServiceRequest } from '../serving/service-request';
import { runInSession, SessionError } from '../serving/session';
import type { SignalClassifier } from '../tasks/capabilities';
import { type ServedModel, withCapability } from '../tasks/served-model';
import { describeStreamProtocol } from './asyncapi';
import type { StreamModel } from './stream-host';
import { resumption, streamCursor, streamOpened, streamRequest } from './stream-messages';
import { findOptionsProblem } from './stream-options';
import { StreamSession } from './stream-session';
import type { Streams } from './streams';

const PATH = '/stream';
const NO_STREAM = 'The stream does not exist or has ended. Open a new stream.';

const MESSAGES = '`GET /asyncapi.json` describes the messages.';
const ORIGINS = 'Pages of other origins are rejected, see CORS_ORIGINS.';

type SignalModel = ServedModel<SignalClassifier>;

/** Routes of signal streams. Text models have a route that responds with an error. */
export function streamProtocol(served: ServedModel, streams: Streams, version: string): Protocol {
  const signals = withCapability(served, 'signal-classification');
  const protocol = {
    prefix: null,
    errors: DETAIL_FORMAT,
    probes: [],
    info: null,
    tag: { name: 'streams', description: 'Classification of unbounded signals' },
    error: DETAIL_SCHEMA,
  };
  // In a model repository, /stream without a model name belongs to the default signal model.
  if (signals === null) return { ...protocol, routes: [noStream(served)], routesByBodyModel: true };
  return {
    ...protocol,
    routes: [
      postStream(signals, streams),
      postSamples(signals, streams),
      getWebSocket(signals, streams),
      getAsyncApi(served, version),
    ],
  };
}

/** @throws ServiceError FORBIDDEN, MODEL_NOT_LOADED */
function modelOf(
  { name, title, model }: SignalModel,
  { access }: ServiceRequest,
  streams: Streams,
): StreamModel {
  access.require({ model: name });
  const loaded = requireModel(model);
  const { settings } = loaded.metadata;
  return { name: title, model: loaded, settings, queue: streams.queueOf(loaded) };
}

/** GET /stream: opens a WebSocket. */
function getWebSocket(served: SignalModel, streams: Streams): Route {
  return route({
    method: 'GET',
    path: PATH,
    operationId: 'stream',
    summary: 'Stream a signal over a WebSocket',
    description: `${served.task.disclaimer ?? ''}${MESSAGES} ${ORIGINS}`,
    response: streamOpened,
    errors: ['REQUEST_INVALID', 'UPGRADE_NEEDED', 'MODEL_NOT_LOADED', 'DRAINING'],
    handler: () => {
      const fix = 'Send a WebSocket handshake (RFC 6455), or POST for server-sent events';
      throw new ServiceError(
        'UPGRADE_NEEDED',
        `/stream: expected an upgrade to WebSocket. ${fix}.`,
      );
    },
    upgrade: (request) => {
      const model = modelOf(served, request, streams);
      return (peer) => new StreamSession(streams, model, request, peer);
    },
  });
}

/** POST /stream: opens a stream of server-sent events, for clients without WebSockets. */
function postStream(served: SignalModel, streams: Streams): Route {
  return route({
    method: 'POST',
    path: PATH,
    operationId: 'streamEvents',
    summary: 'Stream a signal with server-sent events',
    description: `${served.task.disclaimer ?? ''}Send samples with the request, or with \`POST ${PATH}/{stream}\`. ${MESSAGES}`,
    request: () => toSchema(streamRequest),
    response: streamOpened,
    isEventStream: true,
    errors: ['BODY_INVALID', 'MODEL_NOT_LOADED'],
    handler: (request) => {
      const { body } = request;
      const isResumption = typeof body === 'object' && body !== null && 'resume' in body;
      const options = isResumption ? null : parseBody(streamRequest, request);
      if (isResumption) parseBody(resumption, request);
      const model = modelOf(served, request, streams);
      const problem = options && findOptionsProblem(options, model.settings);
      if (problem) throw new ServiceError('BODY_INVALID', problem);
      return {
        body: {},
        openSession: (peer) => {
          const session = new StreamSession(streams, model, request, peer);
          runInSession(session, () => {
            session.onMessage(body);
            if (options?.samples) session.onMessage({ samples: options.samples });
            if (options?.end) session.onMessage({ end: true });
          });
          return session;
        },
      };
    },
  });
}

/** POST /stream/ID: sends a message to a stream of server-sent events. */
function postSamples(served: SignalModel, streams: Streams): Route {
  return route({
    method: 'POST',
    path: `${PATH}/:stream`,
    body: 'bytes',
    operationId: 'streamSamples',
    summary: 'Send samples to a stream of server-sent events',
    description:
      'An array of numbers, a message object as for a WebSocket, or float32 as application/octet-stream. ' +
      'Send the next samples after the response.',
    request: SAMPLES,
    response: streamCursor,
    isBinary: true,
    errors: ['BODY_INVALID', 'NOT_FOUND'],
    handler: async (request) => {
      request.access.require({ model: served.name });
      const bytes = request.body as Buffer;
      const isBinary = /^application\/octet-stream\b/i.test(request.header('content-type') ?? '');
      const message = isBinary ? bytes : parseJson(bytes);
      const id = request.parameters.stream ?? '';
      const session = streams.find(id, request.owner, served.title)?.session;
      if (!session) throw new ServiceError('NOT_FOUND', NO_STREAM);
      try {
        return { body: await session.post(message) };
      } catch (error) {
        if (!(error instanceof SessionError)) throw error;
        throw new ServiceError('BODY_INVALID', error.message);
      }
    },
  });
}

const SAMPLES = {
  anyOf: [
    { type: 'array', items: { type: ['number', 'null'] } },
    { type: 'object', description: 'samples, at, gap, received or end' },
  ],
};

/** GET /stream of a text model. */
function noStream({ name }: ServedModel): Route {
  return route({
    method: 'GET',
    path: PATH,
    operationId: 'noStream',
    summary: 'Streams are not available for text models',
    response: null,
    errors: ['NOT_FOUND'],
    handler: () => {
      const problem = 'streams need a signal model, this model reads texts';
      throw new ServiceError('NOT_FOUND', `${name}: ${problem}. Use a signal model.`);
    },
  });
}

/** GET /asyncapi.json. The document is created with the first request. */
function getAsyncApi({ task }: ServedModel, version: string): Route {
  let document: object | undefined;
  return route({
    method: 'GET',
    path: '/asyncapi.json',
    operationId: 'asyncapi',
    summary: 'Messages of streams, as an AsyncAPI 3.0 document',
    response: { type: 'object' },
    handler: () => {
      document ??= describeStreamProtocol(task.disclaimer, version);
      return { body: document };
    },
  });
}
