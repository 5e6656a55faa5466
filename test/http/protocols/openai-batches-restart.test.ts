/** Batches of OpenAI's API across processes: interruptions, expiry, API keys, a second server. */
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { Folder } from '../../helpers/files';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import { BatchClient, manyLines, requestLine } from '../../helpers/openai-batches';
import { NodeProcess, type Service } from '../../helpers/service';

const LINES = 20_000;
const folders: Folder[] = [];
const directory = newDirectory();

beforeAll(() => {
  directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
  directory.text('others', '../embeddings/sentences/v6-max');
});

afterAll(async () => {
  await removeDirectories();
  for (const folder of folders) folder.remove();
});

function newFolder(): Folder {
  const folder = new Folder();
  folders.push(folder);
  return folder;
}

const start = (files: Folder, env = {}): Promise<Service> =>
  directory.start({ env: { FILES_DIR: files.path, ...env } });

/** Changes a record while no server runs. */
function changeRecord(files: Folder, folder: string, id: string, change: object): void {
  const file = path.join(files.path, folder, `${id}.json`);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }));
}

describe.each(['SIGKILL', 'SIGTERM'] as const)('after %s', (signal) => {
  it('continues without losing or repeating a line', async () => {
    const files = newFolder();
    let service = await start(files);
    const { id } = await new BatchClient(service).create(manyLines(LINES));
    for (let i = 0; i < 3; i++) {
      await new BatchClient(service).partlyDone(id);
      service.kill(signal);
      await service.exit;
      service = await start(files);
    }
    const client = new BatchClient(service);
    const batch = await client.ended(id);
    const counts = { total: LINES, completed: LINES, failed: 0 };
    expect(batch).toMatchObject({ status: 'completed', request_counts: counts });
    const lines = await client.lines(batch.output_file_id);
    expect(lines.map(({ custom_id }) => Number(custom_id))).toEqual(
      Array.from({ length: LINES }, (_, i) => i),
    );
    expect(new Set(lines.map((line) => line.id)).size).toBe(LINES);
    expect(readdirSync(path.join(files.path, 'batches'))).toEqual([`${id}.json`]);
    await service.stop();
  });
});

it('cancels a batch that was being cancelled', async () => {
  const files = newFolder();
  const service = await start(files);
  const { id } = await new BatchClient(service).create(manyLines(LINES));
  await new BatchClient(service).partlyDone(id);
  await service.stop();
  changeRecord(files, 'batches', id, { status: 'cancelling' });
  const client = new BatchClient(await start(files));
  const batch = await client.ended(id);
  expect(batch.status).toBe('cancelled');
  const lines = await client.lines(batch.output_file_id);
  expect(lines).toHaveLength(batch.request_counts?.completed ?? -1);
  expect(lines.length).toBeGreaterThan(0);
});

it('ends an expired batch with an error for each request that has not run', async () => {
  const files = newFolder();
  const service = await start(files);
  const { id } = await new BatchClient(service).create(manyLines(LINES));
  await new BatchClient(service).partlyDone(id);
  await service.stop();
  changeRecord(files, 'batches', id, { expiresAt: Date.now() - 1 });
  const client = new BatchClient(await start(files));
  const batch = await client.ended(id);
  expect(batch).toMatchObject({ status: 'expired', expired_at: expect.any(Number) });
  const done = await client.lines(batch.output_file_id);
  const expired = await client.lines(batch.error_file_id);
  expect(done.length + expired.length).toBe(LINES);
  expect(expired[0]).toMatchObject({ response: null, error: { code: 'batch_expired' } });
});

it('deletes expired files and the rest of interrupted uploads', async () => {
  const files = newFolder();
  let service = await start(files);
  const id = await new BatchClient(service).upload(requestLine('a', { input: 'a' }));
  await service.stop();
  changeRecord(files, 'files', id, { expiresAt: Date.now() - 1 });
  const name = `file-${'0'.repeat(32)}.jsonl`;
  writeFileSync(path.join(files.path, 'files', name), 'x');
  writeFileSync(path.join(files.path, 'files', 'notes.txt'), 'x');
  service = await start(files);
  const { openai } = new BatchClient(service);
  await expect(openai.files.retrieve(id)).rejects.toMatchObject({ status: 404 });
  await service.stop();
  expect(readdirSync(path.join(files.path, 'files'))).toEqual(['notes.txt']);
});

it('fails a batch whose results were damaged', async () => {
  const files = newFolder();
  const service = await start(files);
  const { id } = await new BatchClient(service).create(manyLines(LINES));
  await new BatchClient(service).partlyDone(id);
  await service.stop();
  const folder = path.join(files.path, 'files');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.partial'))) {
    writeFileSync(path.join(folder, name), '');
  }
  const client = new BatchClient(await start(files));
  expect(await client.ended(id)).toMatchObject({
    status: 'failed',
    errors: { data: [{ code: 'server_error' }] },
  });
  expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
});

it('separates API keys, also after a restart', async () => {
  const files = newFolder();
  const [first, second] = ['the-key-of-the-first-client', 'the-key-of-the-second-client'];
  const keys = files.put('keys', `${first}\n${second} models=vectors\n`);
  let service = await start(files, { API_KEYS_FILE: keys });
  const [a, b] = [new BatchClient(service, first), new BatchClient(service, second)];
  const mine = await a.run(requestLine('a', { input: 'a', model: 'others' }));
  expect(mine.request_counts).toMatchObject({ completed: 1 });
  const { openai } = b;
  const fileId = mine.output_file_id as string;
  for (const denied of [
    openai.files.retrieve(fileId),
    openai.files.content(fileId),
    openai.files.delete(fileId),
    openai.batches.retrieve(mine.id),
    openai.batches.cancel(mine.id),
    openai.batches.create({
      input_file_id: mine.input_file_id,
      endpoint: '/v1/embeddings',
      completion_window: '24h',
    }),
  ]) {
    await expect(denied).rejects.toMatchObject({ status: 404 });
  }
  expect((await openai.files.list()).data).toEqual([]);
  expect((await openai.batches.list()).data).toEqual([]);
  // The scope of the key applies to each line.
  const scoped = await b.run(
    requestLine('v', { input: 'a', model: 'vectors' }) +
      requestLine('o', { input: 'a', model: 'others' }),
  );
  expect(scoped.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
  const [error] = await b.lines(scoped.error_file_id);
  expect(error).toMatchObject({ custom_id: 'o', response: { status_code: 403 } });
  // A batch of a key that is removed fails.
  const { id } = await b.create(manyLines(LINES, { model: 'vectors' }));
  await b.partlyDone(id);
  await service.stop();
  files.put('keys', `${first}\n`);
  service = await start(files, { API_KEYS_FILE: keys });
  await service.waitForLog(({ msg, batch }) => msg === 'batch ended' && batch === id);
  files.put('keys', `${first}\n${second}\n`);
  service.kill('SIGHUP');
  await service.waitForLog(({ msg }) => msg === 'API keys reloaded');
  const again = new BatchClient(service, second);
  expect(await again.ended(id)).toMatchObject({
    status: 'failed',
    errors: { data: [{ code: 'invalid_api_key' }] },
  });
  expect((await new BatchClient(service, first).openai.files.list()).data).toHaveLength(2);
});

it('stops while a client does not read its download, and continues downloads of deleted files', async () => {
  const service = await start(newFolder(), { SHUTDOWN_TIMEOUT_MS: '6000' });
  const { openai } = new BatchClient(service);
  const content = Buffer.alloc(50 * 1024 ** 2, requestLine('a', { input: 'a' }));
  const id = await new BatchClient(service).upload(content);
  const response = await openai.files.content(id);
  const socket = net.connect(service.port, '127.0.0.1');
  socket.write(`GET /v1/files/${id}/content HTTP/1.1\r\nHost: a\r\n\r\n`);
  await once(socket, 'readable');
  await openai.files.delete(id);
  expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
  await expect(openai.files.content(id)).rejects.toMatchObject({ status: 404 });
  expect((await service.stop()).code).toBe(0);
  socket.destroy();
});

it('uses a directory by one server at a time', async () => {
  const files = newFolder();
  const service = await start(files);
  const second = new NodeProcess({
    args: ['models', directory.path],
    env: { FILES_DIR: files.path, HOST: '127.0.0.1', PORT: '0' },
  });
  expect((await second.exit).code).toBe(2);
  expect(second.stderr).toContain('is in use by another server');
  service.kill('SIGKILL');
  await service.exit;
  const third = await start(files);
  expect(statSync(path.join(files.path, 'files')).mode & 0o777).toBe(0o700);
  expect((await third.stop()).code).toBe(0);
});
