import { RETRY_AFTER } from '../protocols/openapi/responses';
import { errorAnswer } from '../protocols/own/schemas/answers';
import { DETAIL, type Protocol } from '../protocols/protocol';
import { parseBody, type Route, requireModel, type ServiceRequest } from '../protocols/route';
import { ServiceError } from '../serving/errors';
import { parseJson } from '../serving/json';
import { runInSession, SessionError } from '../serving/session';
import type { SignalClassifier } from '../tasks/abilities';
import { type ServedModel, withCapability } from '../tasks/served';
import type { SignalAbout } from '../tasks/signal-classification/signal-rows';
import { describeStreamProtocol } from './asyncapi';
import type { StreamModel } from './stream-host';
import {
  findOptionsProblem,
  resumption,
  streamCursor,
  streamOpened,
  streamRequest,
} from './stream-messages';
import { StreamSession } from './stream-session';
import type { Streams } from './streams';

const PATH = '/stream';
const NO_STREAM = 'The stream does not exist or has ended. Open a new stream.';

const MESSAGES = '`GET /asyncapi.json` describes the messages.';
const ORIGINS = 'Pages of other origins are rejected, see CORS_ORIGINS.';
const ERRORS = {
  500: 'The model is not loaded.',
  503: { description: 'The service is shutting down.', headers: RETRY_AFTER },
};
const BODY_ERRORS = {
  400: 'X-Request-Timeout-Ms is not a whole number of milliseconds.',
  413: 'The body exceeds BODY_LIMIT.',
  415: 'The Content-Encoding is not supported, or the Content-Type of `POST /stream` is not JSON.',
  422: 'A field is missing or invalid.',
};

type SignalModel = ServedModel<SignalClassifier>;

/** Routes of signal streams. Text models have a route that responds with an error. */
export function streamProtocol(served: ServedModel, streams: Streams, version: string): Protocol {
  const signals = withCapability(served, 'classifies signals');
  const protocol = {
    prefix: null,
    errors: DETAIL,
    probes: [],
    info: null,
    tag: { name: 'streams', description: 'Classification of unbounded signals' },
    error: { name: 'Error', schema: errorAnswer },
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
  const { settings } = loaded.metadata as SignalAbout;
  return { name: title, model: loaded, settings, queue: streams.queueOf(loaded) };
}

/** GET /stream: opens a WebSocket. */
function getWebSocket(served: SignalModel, streams: Streams): Route {
  return {
    method: 'GET',
    path: PATH,
    handle: () => {
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
    describe: () => ({
      id: 'stream',
      summary: 'Stream a signal over a WebSocket',
      description: `${served.task.disclaimer ?? ''}${MESSAGES} ${ORIGINS}`,
      answer: { name: 'StreamOpened', schema: streamOpened },
      isUpgrade: true,
      outcome: 'The connection is upgraded to a WebSocket.',
      errors: {
        ...ERRORS,
        400: 'The WebSocket handshake is invalid.',
        426: {
          description: 'The request is not a WebSocket handshake.',
          headers: { Upgrade: { schema: { const: 'websocket' } } },
        },
      },
    }),
  };
}

/** POST /stream: opens a stream of server-sent events, for clients without WebSockets. */
function postStream(served: SignalModel, streams: Streams): Route {
  return {
    method: 'POST',
    path: PATH,
    handle: (request) => {
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
    describe: () => ({
      id: 'streamEvents',
      summary: 'Stream a signal with server-sent events',
      description: `${served.task.disclaimer ?? ''}Send samples with the request, or with \`POST ${PATH}/{stream}\`. ${MESSAGES}`,
      request: { name: 'StreamOpening', schema: streamRequest },
      answer: { name: 'StreamOpened', schema: streamOpened },
      isEvents: true,
      outcome: 'Server-sent events, one message each. The first event contains the stream id.',
      errors: { ...ERRORS, ...BODY_ERRORS },
    }),
  };
}

/** POST /stream/ID: sends a message to a stream of server-sent events. */
function postSamples(served: SignalModel, streams: Streams): Route {
  return {
    method: 'POST',
    path: `${PATH}/:stream`,
    body: 'bytes',
    handle: async (request) => {
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
    describe: () => ({
      id: 'streamSamples',
      summary: 'Send samples to a stream of server-sent events',
      description:
        'An array of numbers, a message object as for a WebSocket, or float32 as application/octet-stream. ' +
        'Send the next samples after the response.',
      request: { name: 'StreamSamples', schema: SAMPLES },
      answer: { name: 'StreamTaken', schema: streamCursor },
      isBinary: true,
      errors: { ...BODY_ERRORS, 404: NO_STREAM, 503: ERRORS[503] },
    }),
  };
}

const SAMPLES = {
  anyOf: [
    { type: 'array', items: { type: ['number', 'null'] } },
    { type: 'object', description: 'samples, at, gap, received or end' },
  ],
};

/** GET /stream of a text model. */
function noStream({ name }: ServedModel): Route {
  return {
    method: 'GET',
    path: PATH,
    handle: () => {
      const problem = 'streams need a signal model, this model reads texts';
      throw new ServiceError('NOT_FOUND', `${name}: ${problem}. Use a signal model.`);
    },
    describe: () => ({
      id: 'noStream',
      summary: 'Streams are not available for text models',
      answer: { name: 'Error', schema: errorAnswer },
      outcome: null,
      errors: { 404: 'The model is not a signal model.' },
    }),
  };
}

/** GET /asyncapi.json. The document is created with the first request. */
function getAsyncApi({ task }: ServedModel, version: string): Route {
  let document: object | undefined;
  return {
    method: 'GET',
    path: '/asyncapi.json',
    handle: () => {
      document ??= describeStreamProtocol(task.disclaimer, version);
      return { body: document };
    },
    describe: () => ({
      id: 'asyncapi',
      summary: 'Messages of streams',
      answer: { name: 'AsyncApi', schema: { type: 'object' } },
      outcome: 'AsyncAPI 3.0 document.',
      errors: {},
    }),
  };
}
