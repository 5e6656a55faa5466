/** The OpenAPI document of files and batches has the statuses and schemas of their responses, and no others. */
import { Documented } from '../../helpers/documented';
import { Folder } from '../../helpers/files';
import { type Answer, request } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import { BatchClient, manyLines, requestLine } from '../../helpers/openai-batches';
import type { Service } from '../../helpers/service';

const TAG = 'OpenAI batches';
/** A draining server, many downloads, and a download, which is no JSON. */
const OTHERS = [
  'DELETE /v1/files/{id} 503',
  'GET /v1/files/{id}/content 200',
  'GET /v1/files/{id}/content 503',
  'POST /v1/batches 503',
  'POST /v1/batches/{id}/cancel 503',
  'POST /v1/files 503',
];
const BOUNDARY = 'a-boundary';
/** Over BODY_LIMIT, and over FILE_LIMIT. */
const LARGE = 'x'.repeat(1024 ** 2 + 1);
const LARGE_FILE = 'x'.repeat(4 * 1024 ** 2);
const BODIES = [
  [413, { body: LARGE }],
  [415, { headers: { 'content-encoding': 'x' }, body: '{}' }],
  [400, { headers: { 'x-request-timeout-ms': 'x' }, body: '{}' }],
] as const;

const directory = newDirectory();
const files = new Folder();
let service: Service;
let off: Service;
let documented: Documented;

beforeAll(async () => {
  directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
  service = await directory.start({ env: { FILES_DIR: files.path, FILE_LIMIT: '3mb' } });
  off = await directory.start();
  documented = await Documented.of(service, ({ tags }) => tags[0] === TAG);
});

afterAll(async () => {
  await removeDirectories();
  files.remove();
});

interface Sent {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request, and compares the response with the document. @returns the status */
async function note(method: string, path: string, sent: Sent = {}, to = service): Promise<Answer> {
  const template = path.replace(/\?.*/, '').replace(/(?:file-|batch_)[\da-f]+/, '{id}');
  // Node's client sends no length with DELETE.
  const length = { 'content-length': Buffer.byteLength(sent.body ?? '') };
  const headers = { ...sent.headers, ...length };
  return documented.note(method, template, await request(to, { method, path, ...sent, headers }));
}

const statusOf = async (...sent: Parameters<typeof note>) => (await note(...sent)).status;

function form(purpose: string, content: string): Sent {
  const parts = [
    ['purpose"', purpose],
    ['file"; filename="a.jsonl"', content],
  ].map(
    ([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}\r\n\r\n${value}\r\n`,
  );
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  return { headers, body: `${parts.join('')}--${BOUNDARY}--\r\n` };
}

it('has each status', async () => {
  const upload = async (content: string) =>
    ((await note('POST', '/v1/files', form('batch', content))).json as { id: string }).id;
  const id = await upload(requestLine('a', { input: 'a' }));
  expect(await statusOf('POST', '/v1/files', form('other', 'x'))).toBe(400);
  expect(await statusOf('POST', '/v1/files', form('batch', LARGE_FILE))).toBe(413);
  expect(await statusOf('POST', '/v1/files', { body: '{}' })).toBe(415);
  for (const path of ['/v1/files', '/v1/batches']) {
    expect(await statusOf('GET', path)).toBe(200);
    expect(await statusOf('GET', `${path}?limit=0`)).toBe(400);
    expect(await statusOf('GET', path, {}, off)).toBe(404);
  }
  expect(await statusOf('POST', '/v1/files', form('batch', 'x'), off)).toBe(404);
  expect(await statusOf('GET', `/v1/files/${id}`)).toBe(200);
  for (const path of ['/v1/files/file-0', '/v1/files/file-0/content', '/v1/batches/batch_0']) {
    expect(await statusOf('GET', path)).toBe(404);
  }

  const create = async (input_file_id: string) => {
    const body = { input_file_id, endpoint: '/v1/embeddings', completion_window: '24h' };
    return note('POST', '/v1/batches', { body: JSON.stringify(body) });
  };
  expect((await create('file-0')).status).toBe(404);
  const input = await upload(manyLines(20_000));
  const running = (await create(input)).json as { id: string };
  expect(await statusOf('DELETE', `/v1/files/${input}`)).toBe(409);
  expect(await statusOf('GET', `/v1/batches/${running.id}`)).toBe(200);
  const cancel = `/v1/batches/${running.id}/cancel`;
  expect(await statusOf('POST', cancel)).toBe(200);
  await new BatchClient(service).ended(running.id);
  expect(await statusOf('POST', cancel)).toBe(400);
  expect(await statusOf('POST', '/v1/batches/batch_0/cancel')).toBe(404);

  for (const [status, sent] of BODIES) {
    expect(await statusOf('POST', '/v1/batches', sent)).toBe(status);
    expect(await statusOf('POST', cancel, sent)).toBe(status);
    expect(await statusOf('DELETE', `/v1/files/${id}`, sent)).toBe(status);
  }
  expect(await statusOf('DELETE', `/v1/files/${id}`)).toBe(200);
  expect(await statusOf('DELETE', `/v1/files/${id}`)).toBe(404);
  documented.expectAllSeen(OTHERS);
});
