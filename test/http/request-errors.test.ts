import path from 'node:path';
import WebSocket from 'ws';
import { post, request } from '../helpers/http';
import { EEG_MODEL, killAll, type Service, startService } from '../helpers/service';
import { until } from '../helpers/until';

const PRELOAD = path.join(__dirname, 'scripts', 'preload-faulty-requests.cjs');
const SIGNAL = Array.from({ length: 256 }, (_, i) => Math.sin(i));

let service: Service;
beforeAll(async () => {
  service = await startService('eeg', {
    env: { EEG_MODEL_PATH: EEG_MODEL, FAULT: 'upgrade' },
    nodeArgs: ['--require', PRELOAD],
  });
});
afterAll(killAll);

async function expectServed(): Promise<void> {
  const { status } = await post(service, '/predict', { signal: SIGNAL });
  expect(status).toBe(200);
}

async function expectLogged(msg: string): Promise<void> {
  await until(`the log line "${msg}"`, () => service.logs.some((line) => line.msg === msg));
  expect(service.stdout).not.toContain('INTERNAL TEXT');
}

it('an error before a request is handled closes its connection only', async () => {
  const headers = { 'x-request-id': 'fault-begin' };
  await expect(request(service, { path: '/health', headers })).rejects.toThrow();
  await expectLogged('request failed');
  await expectServed();
});

it('an error of an upgrade closes its connection only', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}/stream`);
  await new Promise<void>((resolve) => socket.on('error', () => resolve()));
  await expectServed();
});

it('an error of the report of a request leaves its response', async () => {
  expect((await request(service, { path: '/info' })).status).toBe(200);
  await expectLogged('request report failed');
  await expectServed();
});
