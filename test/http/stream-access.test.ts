/** Who may open streams, over which transport, and what is told of them. */
import path from 'node:path';
import { makeCertificate } from '../helpers/certificates';
import { Folder } from '../helpers/files';
import { scrape } from '../helpers/metrics';
import { newDirectory, removeDirectories, SECOND } from '../helpers/models-directory';
import { ROOT, startService } from '../helpers/service';
import { SIGNAL } from '../helpers/services';
import { refusedUpgrade, StreamClient } from '../helpers/streams';

const OPENING = { sampling_rate_hz: 95, step: 64, patient_id: 'a-patient-of-this-test' };
const SHIPPED = { cwd: path.join(ROOT, 'models', 'eeg') };
const folder = new Folder();

afterAll(async () => {
  await removeDirectories();
  folder.remove();
});

it('a key for some models opens streams of those', async () => {
  const directory = newDirectory();
  directory.text('films', SECOND);
  directory.signal('waves');
  directory.signal('others');
  const keys = folder.put('keys', 'key-of-waves models=waves\nkey-of-all\n');
  const service = await directory.start({ env: { API_KEYS_FILE: keys } });
  const as = (key: string, model: string) => ({
    path: `/models/${model}/stream`,
    headers: { authorization: `Bearer ${key}` },
  });
  const client = await StreamClient.open(service, OPENING, as('key-of-waves', 'waves'));
  const { stream } = await client.first('stream');
  const refused = {
    status: 403,
    body: { detail: 'The scope of the API key does not include this model.' },
  };
  for (const model of ['others', 'films', 'none']) {
    expect(await refusedUpgrade(service, as('key-of-waves', model))).toMatchObject(refused);
  }
  // An id is of use with the key alone that opened it.
  const resume = { resume: { stream, next_window: 0 } };
  const other = await StreamClient.open(service, resume, as('key-of-all', 'waves'));
  expect(await other.closed).toMatchObject({ code: 4404 });
  const own = await StreamClient.open(service, resume, as('key-of-waves', 'waves'));
  expect(await own.first('stream')).toMatchObject({ stream });
  own.socket.terminate();
});

it('pages of CORS_ORIGINS connect, and others do not', async () => {
  const env = { CORS_ORIGINS: 'https://a.example, http://localhost:3000' };
  const service = await startService('eeg', { ...SHIPPED, env });
  for (const origin of ['https://a.example', 'http://localhost:3000', service.origin]) {
    const client = await StreamClient.open(service, OPENING, { origin });
    await client.first('stream');
    client.socket.terminate();
  }
  for (const origin of ['https://b.example', 'http://a.example', 'null', 'https://127.0.0.1']) {
    expect(await refusedUpgrade(service, { origin })).toMatchObject({ status: 403 });
  }
  const all = await startService('eeg', { ...SHIPPED, env: { CORS_ORIGINS: '*' } });
  const client = await StreamClient.open(all, OPENING, { origin: 'https://b.example' });
  await client.first('stream');
  client.socket.terminate();
});

it('streams come over TLS', async () => {
  const { cert, key } = makeCertificate();
  const env = {
    TLS_CERT_FILE: folder.put('a.crt', cert, 0o644),
    TLS_KEY_FILE: folder.put('a.key', key, 0o600),
  };
  const service = await startService('eeg', { ...SHIPPED, env });
  const client = await StreamClient.open(service, OPENING, { ca: cert });
  client.say(SIGNAL);
  await client.first('window');
  client.say({ end: true });
  expect((await client.closed).code).toBe(1000);
});

it('metrics and log say what became of streams, and nothing of what was in them', async () => {
  const service = await startService('eeg', SHIPPED);
  const headers = { 'x-request-id': 'the-stream-of-this-test' };
  const client = await StreamClient.open(service, { ...OPENING, start: 7 }, { headers });
  client.say([...SIGNAL, ...SIGNAL]);
  client.say([null, ...SIGNAL.slice(1)]);
  client.say({ end: true });
  await client.closed;
  const bad = await StreamClient.open(service, { sampling_rate_hz: 'fast' });
  await bad.closed;
  const broken = await StreamClient.open(service, OPENING);
  const { stream } = await broken.first('stream');
  broken.socket.terminate();
  const again = await StreamClient.open(service, { resume: { stream, next_window: 0 } });
  await again.first('stream');
  const seen = await scrape(service);
  const windows = seen.byLabel('libtorch_serve_stream_windows_total', 'outcome');
  // Windows 0 to 8, of which those from 5 on hold the missing sample.
  expect(windows).toEqual({ completed: 5, unusable: 4, skipped: 0, failed: 0 });
  expect(seen.value('libtorch_serve_stream_window_duration_seconds_count')).toBe(5);
  expect(seen.value('libtorch_serve_streams')).toBe(1);
  expect(seen.value('libtorch_serve_streams_opened_total')).toBe(2);
  expect(seen.value('libtorch_serve_streams_resumed_total')).toBe(1);
  expect(seen.byLabel('libtorch_serve_streams_ended_total', 'end')).toEqual({
    ended: 1,
    error: 0,
    timeout: 0,
    leaving: 0,
    broken: 0,
  });
  expect(
    seen.value('libtorch_serve_http_requests_total', { route: '/stream', status: '101' }),
  ).toBe(4);
  const line = await service.waitForLog(({ msg }) => msg === 'stream');
  expect(line).toMatchObject({
    requestId: 'the-stream-of-this-test',
    model: 'ds004504-t3-cnn',
    end: 'ended',
    windows: 9,
    skipped: 0,
    durationMs: expect.any(Number),
  });
  expect(service.stdout + service.stderr).not.toContain('patient');
  expect(service.stdout).not.toContain(stream as string);
  again.socket.terminate();
  await service.stop();
});
