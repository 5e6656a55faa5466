import { RETRY_AFTER } from '../protocols/openapi/responses';
import { errorAnswer } from '../protocols/own/schemas/answers';
import { parseBody, type Route, requireModel } from '../protocols/route';
import { ServiceError } from '../serving/errors';
import { parseJson } from '../serving/json';
import type { SignalClassifier } from '../tasks/abilities';
import type { ServedModel } from '../tasks/served';
import type { SignalAbout } from '../tasks/signal-classification/signal-rows';
import { openedAnswer, openingBody, resumption, takenAnswer } from './messages';
import { openingProblem } from './opening';
import type { StreamModel } from './signal-stream';
import { StreamSession } from './stream-session';
import type { Streams } from './streams';

export const PATH = '/stream';
const ID = 'stream';

const SAID = 'What is said there is described by `GET /asyncapi.json`.';
const ORIGINS = 'A page of another origin is refused as by a key, see CORS_ORIGINS.';
const ERRORS = {
  500: 'The model is not loaded.',
  503: { description: 'The service is shutting down.', headers: RETRY_AFTER },
};

/** The model as streams ask it. @throws ServiceError FORBIDDEN, MODEL_NOT_LOADED */
function askedOf(
  { name, title, model }: ServedModel<SignalClassifier>,
  { access }: Parameters<NonNullable<Route['upgrade']>>[0],
  streams: Streams,
): StreamModel {
  access.require({ model: name });
  const loaded = requireModel(model);
  const { settings } = loaded.metadata as SignalAbout;
  return { name: title, model: loaded, settings, queue: streams.queueOf(loaded) };
}

/** GET /stream: a WebSocket. */
export function overWebSocket(served: ServedModel<SignalClassifier>, streams: Streams): Route {
  return {
    method: 'GET',
    path: PATH,
    handle: () => {
      const how = 'ask for an upgrade to a WebSocket (RFC 6455), or POST for server-sent events';
      throw new ServiceError('UPGRADE_NEEDED', `Streams of signals are here: ${how}.`);
    },
    upgrade: (call) => {
      const asked = askedOf(served, call, streams);
      return (peer) => new StreamSession(streams, asked, call, peer);
    },
    describe: () => ({
      id: 'stream',
      summary: 'Windows of a signal that goes on, over a WebSocket',
      description: `${served.task.disclaimer ?? ''}${SAID} ${ORIGINS}`,
      answer: { name: 'StreamOpened', schema: openedAnswer },
      isUpgrade: true,
      outcome: 'The connection is a WebSocket from here on.',
      errors: {
        ...ERRORS,
        400: 'It is no handshake of a WebSocket.',
        426: {
          description: 'It does not ask for an upgrade.',
          headers: { Upgrade: { schema: { const: 'websocket' } } },
        },
      },
    }),
  };
}

/** POST /stream: the same messages as server-sent events, for those who cannot have a WebSocket. */
export function overEvents(served: ServedModel<SignalClassifier>, streams: Streams): Route {
  return {
    method: 'POST',
    path: PATH,
    handle: (call) => {
      const { body } = call;
      const isResumption = typeof body === 'object' && body !== null && 'resume' in body;
      const opening = isResumption ? null : parseBody(openingBody, call);
      if (isResumption) parseBody(resumption, call);
      const asked = askedOf(served, call, streams);
      const problem = opening && openingProblem(opening, asked.settings);
      if (problem) throw new ServiceError('BODY_INVALID', problem);
      return {
        body: {},
        openSession: (peer) => {
          const talk = new StreamSession(streams, asked, call, peer);
          talk.say(body);
          if (opening?.samples) talk.say({ samples: opening.samples });
          if (opening?.end) talk.say({ end: true });
          return talk;
        },
      };
    },
    describe: () => ({
      id: 'streamEvents',
      summary: 'The same as server-sent events',
      description: `${served.task.disclaimer ?? ''}Samples come with the request, or by \`POST ${PATH}/{stream}\`. ${SAID}`,
      request: { name: 'StreamOpening', schema: openingBody },
      answer: { name: 'StreamOpened', schema: openedAnswer },
      isEvents: true,
      outcome: 'Events, each of them a message; the first one says which stream it is.',
      errors: { ...ERRORS, ...BODY_ERRORS },
    }),
  };
}

/** POST /stream/ID: samples for it, and what else its client has to say. */
export function samplesOf(served: ServedModel<SignalClassifier>, streams: Streams): Route {
  return {
    method: 'POST',
    path: `${PATH}/:${ID}`,
    body: 'bytes',
    handle: async (call) => {
      call.access.require({ model: served.name });
      const bytes = call.body as Buffer;
      const isBinary = /^application\/octet-stream\b/i.test(call.header('content-type') ?? '');
      const message = isBinary ? bytes : parseJson(bytes);
      const claim = { id: call.parameters[ID] ?? '', owner: call.owner, model: served.title };
      const reply = await streams.say(claim, message);
      if (reply && 'place' in reply) return { body: reply.place };
      if (reply && 'problem' in reply) {
        throw new ServiceError('BODY_INVALID', reply.problem.detail);
      }
      throw new ServiceError('NOT_FOUND', 'There is no such stream any more.');
    },
    describe: () => ({
      id: 'streamSamples',
      summary: 'Samples for a stream that is answered by events',
      description:
        'An array of numbers, an object as over a WebSocket, or float32 as application/octet-stream. ' +
        'The answer comes when they have been taken, and the next ones may be sent then.',
      request: { name: 'StreamSamples', schema: SAMPLES },
      answer: { name: 'StreamTaken', schema: takenAnswer },
      isBinary: true,
      errors: { ...BODY_ERRORS, 404: 'There is no such stream any more.', 503: ERRORS[503] },
    }),
  };
}

const SAMPLES = {
  anyOf: [
    { type: 'array', items: { type: ['number', 'null'] } },
    { type: 'object', description: 'samples, at, gap, received or end' },
  ],
};

const BODY_ERRORS = {
  400: 'X-Request-Timeout-Ms: is no whole number of milliseconds.',
  413: 'The body is over BODY_LIMIT.',
  415: 'The Content-Encoding is unknown, or of `POST /stream` the Content-Type not JSON.',
  422: 'A field is missing, or not as it should be.',
};

/** GET /stream of a model of texts. */
export function noStream({ name }: ServedModel): Route {
  return {
    method: 'GET',
    path: PATH,
    handle: () => {
      const what = 'streams are of models of signals, and it reads texts';
      throw new ServiceError('NOT_FOUND', `The model ${name} has no streams: ${what}.`);
    },
    describe: () => ({
      id: 'noStream',
      summary: 'There are no streams of texts',
      answer: { name: 'Error', schema: errorAnswer },
      outcome: null,
      errors: { 404: 'Streams are of models of signals.' },
    }),
  };
}
