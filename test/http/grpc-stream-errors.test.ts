import path from 'node:path';
import { GrpcClient, textRequest } from '../helpers/grpc';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { within } from '../helpers/until';

const PRELOAD = path.join(__dirname, 'scripts', 'preload-faulty-messages.cjs');

let service: Service;
let client: GrpcClient;

beforeAll(async () => {
  service = await startService('sentiment', {
    env: { ...textModel('bert-single-label'), GRPC_PORT: '0' },
    nodeArgs: ['--require', PRELOAD],
  });
  client = new GrpcClient(service);
});

afterAll(async () => {
  client.close();
  await killAll();
});

/** On the connection of the faulty stream, and on another one. */
async function expectServed(): Promise<void> {
  const other = new GrpcClient(service);
  for (const one of [client, other]) {
    const { status } = await one.call('ModelInfer', textRequest('good')).answer;
    expect(status).toBe('OK');
    const stream = one.stream();
    for (let count = 0; count < 4; count++) stream.send(textRequest('good'));
    stream.end();
    expect(await within(() => 'the end of a stream', stream.ended)).toBe('OK');
    expect(stream.answers).toHaveLength(4);
  }
  other.close();
}

/** Text of the faulty message: a fault in parsing finds its message by the text. */
const textOf = (places: string): string => (places.includes('parse') ? 'fault-parse' : 'good');

it.each([
  'received',
  'parse',
  'send',
  'end',
  'send-sendError',
  'parse-sendError',
  'received-sendError-end',
])('an unexpected error in %s of a message ends its stream at most', async (places) => {
  const stream = client.stream({ metadata: { 'x-request-id': `fault-${places}` } });
  stream.send(textRequest(textOf(places)));
  stream.send(textRequest('bad'));
  await expectServed();
  stream.end();
  const ended = await within(() => 'the end of the faulty stream', stream.ended);
  const told = JSON.stringify([ended, stream.answers]);
  expect(told).not.toMatch(/INTERNAL TEXT|RangeError/);
  if (places.includes('sendError') || places === 'end') expect(ended).not.toBe('OK');
  await expectServed();
});

it.each([
  'begin',
  'beginMessage',
  'countChunk',
  'received',
  'parse',
  'send',
  'responded',
  'end',
  'send-sendError',
])(
  'an unexpected error in %s of a unary call ends this call only, with INTERNAL',
  async (places) => {
    const requestId = `fault-${places}-unary`;
    const metadata = { 'x-request-id': requestId };
    const { answer } = client.call('ModelInfer', textRequest(textOf(places)), { metadata });
    const { status, details } = await within(() => 'the end of the faulty call', answer);
    // An error after the response has been sent does not change it.
    expect(status).toBe(places === 'end' ? 'OK' : 'INTERNAL');
    if (status === 'INTERNAL' && !places.includes('sendError')) {
      expect(details).toBe(
        `An unexpected error occurred. Search the server log for the request id ${requestId}.`,
      );
      await service.waitForLog((line) => line.requestId === requestId && line.at !== undefined);
    }
    await expectServed();
  },
);

it('and the service stops as if nothing had been', async () => {
  expect(service.logs.filter(({ level }) => level === 'fatal')).toEqual([]);
  expect(await service.stop()).toMatchObject({ code: 0 });
});
