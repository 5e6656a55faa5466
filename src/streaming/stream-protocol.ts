import { errorAnswer } from '../protocols/own/schemas/answers';
import { DETAIL, type Protocol } from '../protocols/protocol';
import type { Route } from '../protocols/route';
import { type ServedModel, withCapability } from '../tasks/served';
import { describeSocket } from './asyncapi';
import { noStream, overEvents, overWebSocket, samplesOf } from './routes';
import type { Streams } from './streams';

/** Streams of signals, and for models of texts what there is instead. */
export function streaming(served: ServedModel, streams: Streams, version: string): Protocol {
  const signals = withCapability(served, 'classifies signals');
  const own = {
    prefix: null,
    errors: DETAIL,
    probes: [],
    info: null,
    tag: { name: 'streams', description: 'Windows of a signal that goes on' },
    error: { name: 'Error', schema: errorAnswer },
  };
  if (signals === null) {
    // At the root of a directory of models, the path is that of a model that has streams.
    return { ...own, routes: [noStream(served)], routesByBodyModel: true };
  }
  return {
    ...own,
    routes: [
      overEvents(signals, streams),
      samplesOf(signals, streams),
      overWebSocket(signals, streams),
      asyncApi(served, version),
    ],
  };
}

/** GET /asyncapi.json. The document is made when it is first asked for. */
function asyncApi({ task }: ServedModel, version: string): Route {
  let document: object | undefined;
  const tell = (): object => {
    document ??= describeSocket(task.disclaimer, version);
    return document;
  };
  return {
    method: 'GET',
    path: '/asyncapi.json',
    handle: () => ({ body: tell() }),
    describe: () => ({
      id: 'asyncapi',
      summary: 'What is said in streams',
      answer: { name: 'AsyncApi', schema: { type: 'object' } },
      outcome: 'AsyncAPI 3.0.',
      errors: {},
    }),
  };
}
