/** Files and batches of OpenAI's API, with the unchanged client of OpenAI and models of the repository. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { Folder } from '../../helpers/files';
import { guardDirectory, TONE } from '../../helpers/guard-directory';
import { post, request } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import { BatchClient, manyLines, requestLine } from '../../helpers/openai-batches';
import type { Service } from '../../helpers/service';

const VECTORS = '../embeddings/sentences/v2-mean-normalize';
const RERANKER = 'roberta-one-label';
const SECRET = 'a text that no log may contain';

const directory = guardDirectory({
  checks: [TONE],
  moderations: { categories: { harassment: { check: 'tone', label: 'NEGATIVE' } } },
});
const files = new Folder();
let service: Service;
let client: BatchClient;

beforeAll(async () => {
  directory.text('vectors', VECTORS);
  directory.text('reranker', RERANKER);
  service = await directory.start({ env: { FILES_DIR: files.path } });
  client = new BatchClient(service);
});

afterAll(async () => {
  await removeDirectories();
  files.remove();
});

it('returns in each line the response of the route', async () => {
  const bodies = [
    { input: 'A quiet, funny film.' },
    { input: ['one', 'two'], dimensions: 4, encoding_format: 'base64' },
    { input: '' },
    { input: 'text', model: 'unknown' },
    { input: 5 },
  ];
  const batch = await client.run(bodies.map((body, i) => requestLine(`r${i}`, body)).join(''));
  expect(batch).toMatchObject({
    object: 'batch',
    endpoint: '/v1/embeddings',
    status: 'completed',
    errors: null,
    completion_window: '24h',
    request_counts: { total: 5, completed: 2, failed: 3 },
    in_progress_at: expect.any(Number),
    finalizing_at: expect.any(Number),
    completed_at: expect.any(Number),
    cancelled_at: null,
  });
  const output = await client.lines(batch.output_file_id);
  const errors = await client.lines(batch.error_file_id);
  expect(output.map(({ custom_id }) => custom_id)).toEqual(['r0', 'r1']);
  expect(errors.map(({ custom_id }) => custom_id)).toEqual(['r2', 'r3', 'r4']);
  for (const { custom_id, response, error } of [...output, ...errors]) {
    const body = bodies[Number(custom_id.slice(1))];
    const { status, json } = await post(service, '/v1/embeddings', body);
    const { id: _, ...expected } = json as Record<string, unknown>;
    expect({ status: response?.status_code, body: response?.body, error }).toMatchObject({
      status,
      body: expected,
      error: null,
    });
  }
});

it('runs moderations and reranking', async () => {
  const input = 'awful, a terrible waste of time';
  const moderations = await client.run(
    requestLine('m', { input }, '/v1/moderations'),
    '/v1/moderations',
  );
  const [moderated] = await client.lines(moderations.output_file_id);
  expect(moderated?.response?.body).toMatchObject({
    results: [{ flagged: true, categories: { harassment: true } }],
  });
  const body = { query: 'a film', documents: ['It rains.', 'A warm film.'], model: 'reranker' };
  const reranking = await client.run(requestLine('r', body, '/v1/rerank'), '/v1/rerank');
  const [ranked] = await client.lines(reranking.output_file_id);
  const { json } = await post(service, '/v1/rerank', body);
  expect(ranked?.response?.body.results).toEqual((json as { results: unknown }).results);
});

it('describes, lists, downloads and deletes files', async () => {
  const content = requestLine('a', { input: 'text' });
  const id = await client.upload(content, '../../etc/requests.jsonl');
  const { openai } = client;
  const file = await openai.files.retrieve(id);
  expect(file).toMatchObject({
    id,
    object: 'file',
    bytes: Buffer.byteLength(content),
    filename: 'requests.jsonl',
    purpose: 'batch',
    status: 'processed',
  });
  expect(file.expires_at).toBe(file.created_at + 30 * 86_400);
  expect(await (await openai.files.content(id)).text()).toBe(content);
  const head = await request(service, { method: 'HEAD', path: `/v1/files/${id}/content` });
  expect(head).toMatchObject({ status: 200, text: '' });
  expect(head.headers['content-length']).toBe(String(content.length));
  expect((await openai.files.list({ purpose: 'batch' })).data[0]).toEqual(file);
  expect(await openai.files.delete(id)).toEqual({ id, object: 'file', deleted: true });
  await expect(openai.files.retrieve(id)).rejects.toMatchObject({ status: 404, param: 'id' });
  await expect(openai.files.delete(id)).rejects.toMatchObject({ status: 404 });
});

it('pages through lists', async () => {
  const content = requestLine('a', { input: 'text' });
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push((await client.run(content)).id);
  const listed = [];
  for await (const batch of client.openai.batches.list({ limit: 2 })) listed.push(batch.id);
  expect(listed.slice(0, 5)).toEqual(ids.toReversed());
  const uploaded = [];
  for (let i = 0; i < 3; i++) uploaded.push(await client.upload(content));
  const all = (await client.openai.files.list({ order: 'asc' })).data.map(({ id }) => id);
  expect(all.slice(-3)).toEqual(uploaded);
  const { json } = await request(service, {
    path: `/v1/files?order=asc&limit=1&after=${uploaded[0]}`,
  });
  const page = { first_id: uploaded[1], last_id: uploaded[1], has_more: true, object: 'list' };
  expect(json).toMatchObject(page);
  for (const query of ['limit=0', 'limit=x', 'order=up', 'after=file-0', 'after=../..']) {
    const { status, json: error } = await request(service, { path: `/v1/batches?${query}` });
    expect({ status, error }).toMatchObject({
      status: 400,
      error: { error: { type: 'invalid_request_error', param: query.split('=')[0] } },
    });
  }
});

it('cancels a batch once, and keeps the results', async () => {
  const { id } = await client.create(manyLines(20_000));
  await client.partlyDone(id);
  const requests = await Promise.allSettled(
    Array.from({ length: 5 }, () => client.openai.batches.cancel(id)),
  );
  const cancelled = requests.flatMap((one) => (one.status === 'fulfilled' ? one.value.status : []));
  expect(cancelled).not.toEqual([]);
  for (const status of cancelled) expect(['cancelling', 'cancelled']).toContain(status);
  // A request that arrives after the batch is cancelled.
  const late = requests.flatMap((one) => (one.status === 'rejected' ? one.reason.status : []));
  expect(late).toEqual(late.map(() => 400));
  const batch = await client.ended(id);
  expect(batch).toMatchObject({ status: 'cancelled', cancelled_at: expect.any(Number) });
  const lines = await client.lines(batch.output_file_id);
  expect(lines).toHaveLength(batch.request_counts?.completed ?? -1);
  expect(lines.length).toBeLessThan(20_000);
  await expect(client.openai.batches.cancel(id)).rejects.toMatchObject({ status: 400 });
});

it('serves requests while a batch runs', async () => {
  const { id } = await client.create(manyLines(20_000));
  await client.partlyDone(id);
  for (let i = 0; i < 20; i++) {
    expect((await post(service, '/v1/embeddings', { input: `text ${i}` })).status).toBe(200);
  }
  expect((await client.openai.batches.retrieve(id)).status).toBe('in_progress');
  await client.openai.batches.cancel(id);
  await client.ended(id);
});

it('does not delete the input of a running batch', async () => {
  const batch = await client.create(manyLines(20_000));
  await client.partlyDone(batch.id);
  const deleting = client.openai.files.delete(batch.input_file_id);
  await expect(deleting).rejects.toMatchObject({ status: 409, param: 'id' });
  await client.openai.batches.cancel(batch.id);
  await client.ended(batch.id);
  expect(await client.openai.files.delete(batch.input_file_id)).toMatchObject({ deleted: true });
});

it('keeps contents private', async () => {
  const batch = await client.run(requestLine(SECRET, { input: SECRET, model: SECRET }));
  expect(batch.request_counts).toEqual({ total: 1, completed: 0, failed: 1 });
  await client.run(requestLine('a', { input: SECRET }).replace('"POST"', `"${SECRET}"`));
  expect(service.stdout + service.stderr).not.toContain(SECRET);
  for (const folder of ['files', 'batches']) {
    for (const name of readdirSync(path.join(files.path, folder))) {
      expect(statSync(path.join(files.path, folder, name)).mode & 0o777).toBe(0o600);
    }
  }
});

it('is off without FILES_DIR', async () => {
  const other = newDirectory();
  other.text('vectors', VECTORS);
  const off = await other.start();
  const message = 'Files and batches are disabled. Set FILES_DIR to a directory.';
  for (const [method, at] of [
    ['GET', '/v1/files'],
    ['POST', '/v1/files'],
    ['DELETE', '/v1/files/file-1'],
    ['GET', '/v1/files/file-1/content'],
    ['GET', '/v1/batches'],
    ['POST', '/v1/batches/batch_1/cancel'],
  ] as const) {
    const { status, json } = await request(off, { method, path: at });
    expect({ status, json }).toMatchObject({ status: 404, json: { error: { message } } });
  }
});
