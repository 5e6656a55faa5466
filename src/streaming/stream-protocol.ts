import type { Get } from '../protocols/endpoint';
import { errorAnswer } from '../protocols/own/schemas/answers';
import { DETAIL, type Protocol } from '../protocols/protocol';
import { type ServedModel, withCapability } from '../tasks/served';
import { describeSocket } from './asyncapi';
import { noStream, overEvents, overWebSocket, PATH, samplesOf } from './routes';
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
    return { ...own, endpoints: [], gets: { [PATH]: noStream(served) }, routesByBodyModel: true };
  }
  return {
    ...own,
    endpoints: [overEvents(signals, streams), samplesOf(signals, streams)],
    gets: { [PATH]: overWebSocket(signals, streams), '/asyncapi.json': asyncApi(served, version) },
  };
}

/** GET /asyncapi.json. The document is made when it is first asked for. */
function asyncApi({ task }: ServedModel, version: string): Get {
  let document: object | undefined;
  const tell = (): object => {
    document ??= describeSocket(task.disclaimer, version);
    return document;
  };
  return {
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
