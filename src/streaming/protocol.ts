import type { Get } from '../protocols/endpoint';
import { requireModel } from '../protocols/endpoint';
import { RETRY_AFTER } from '../protocols/openapi/responses';
import { errorAnswer as detailAnswer } from '../protocols/own/schemas/answers';
import { DETAIL, type Protocol } from '../protocols/protocol';
import { ServiceError } from '../serving/errors';
import type { ClassifiesSignals } from '../tasks/abilities';
import { type Served, servedAs } from '../tasks/served';
import type { SignalAbout } from '../tasks/signal-classification/rows';
import { StreamTalk } from './conversation';
import { openedAnswer } from './messages';
import type { Streams } from './streams';

const PATH = '/stream';

/** Streams of signals, and for models of texts what there is instead. */
export function streaming(served: Served, streams: Streams): Protocol {
  const signals = servedAs(served, 'classifies signals');
  const get: Get = signals ? signalStream(signals, streams) : noStream(served);
  return {
    endpoints: [],
    gets: { [PATH]: get },
    prefix: null,
    errors: DETAIL,
    probes: [],
    info: null,
    // At the root of a directory of models, the path is that of a model that has streams.
    ...(signals === null && { namesModels: true }),
    tag: { name: 'streams', description: 'Windows of a signal that goes on' },
    error: { name: 'Error', schema: detailAnswer },
  };
}

function signalStream(
  { name, task, model, title }: Served<ClassifiesSignals>,
  streams: Streams,
): Get {
  return {
    handle: () => {
      const how = 'ask for an upgrade to a WebSocket (RFC 6455)';
      throw new ServiceError('UPGRADE_NEEDED', `Streams of signals are here: ${how}.`);
    },
    upgrade: (call) => {
      call.access.require({ model: name });
      const loaded = requireModel(model);
      const { settings } = loaded.about as SignalAbout;
      const asked = { name: title, model: loaded, settings, queue: streams.queueOf(loaded) };
      return (peer) => new StreamTalk(streams, asked, call, peer);
    },
    describe: () => ({
      ...{ id: 'stream', summary: 'Windows of a signal that goes on, over a WebSocket' },
      description: `${task.notice ?? ''}${ABOUT}`,
      answer: { name: 'StreamOpened', schema: openedAnswer },
      isUpgrade: true,
      outcome: 'The connection is a WebSocket from here on.',
      errors: {
        400: 'It is no handshake of a WebSocket.',
        403: 'A page of another origin may not connect: see CORS_ORIGINS.',
        426: {
          description: 'It does not ask for an upgrade.',
          headers: { Upgrade: { schema: { const: 'websocket' } } },
        },
        500: 'The model is not loaded.',
        503: { description: 'The service is shutting down.', headers: RETRY_AFTER },
      },
    }),
  };
}

const ABOUT = 'What is said there is described by `GET /asyncapi.json`.';

function noStream({ name }: Served): Get {
  return {
    handle: () => {
      const what = 'streams are of models of signals, and it reads texts';
      throw new ServiceError('NOT_FOUND', `The model ${name} has no streams: ${what}.`);
    },
    describe: () => ({
      ...{ id: 'noStream', summary: 'There are no streams of texts' },
      answer: { name: 'Error', schema: detailAnswer },
      errors: { 404: 'Streams are of models of signals.' },
    }),
  };
}
