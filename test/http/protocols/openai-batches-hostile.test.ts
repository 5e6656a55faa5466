/** Files and batches of OpenAI's API: invalid lines, and limits. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Folder } from '../../helpers/files';
import { request } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import {
  BatchClient,
  formOf,
  formPart,
  manyLines,
  requestLine,
  sendForm,
} from '../../helpers/openai-batches';
import type { Service } from '../../helpers/service';

const VECTORS = '../embeddings/sentences/v2-mean-normalize';
const FILE_LIMIT = 100_000;
const LINE = requestLine('a', { input: 'text' });

const directory = newDirectory();
const files = new Folder();
let service: Service;
let client: BatchClient;

beforeAll(async () => {
  directory.text('vectors', VECTORS);
  const limits = { FILE_LIMIT: String(FILE_LIMIT), BODY_LIMIT: '20000', MAX_FILE_LINES: '1000' };
  service = await directory.start({ env: { FILES_DIR: files.path, ...limits } });
  client = new BatchClient(service);
});

afterAll(async () => {
  await removeDirectories();
  files.remove();
});

const PURPOSE = formPart('purpose', 'batch');
const FILE = formPart('file', LINE, 'a.jsonl');

describe('lines', () => {
  const json = (value: object): string => `${JSON.stringify(value)}\n`;
  const valid = { custom_id: 'a', method: 'POST', url: '/v1/embeddings', body: { input: 'a' } };

  it.each([
    ['not JSON', '{"a": \n', 'invalid_json_line', null],
    ['not an object', '[1]\n', 'invalid_json_line', null],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_json_line', null],
    ['deep', `${'['.repeat(5000)}\n`, 'invalid_json_line', null],
    ['long', requestLine('a', { input: 'x'.repeat(25_000) }), 'line_too_long', null],
    [
      'without custom_id',
      json({ ...valid, custom_id: undefined }),
      'invalid_custom_id',
      'custom_id',
    ],
    [
      'with a long custom_id',
      json({ ...valid, custom_id: 'x'.repeat(600) }),
      'invalid_custom_id',
      'custom_id',
    ],
    ['of another method', json({ ...valid, method: 'GET' }), 'invalid_method', 'method'],
    ['of another URL', json({ ...valid, url: '/v1/files' }), 'invalid_url', 'url'],
    ['with a text as body', json({ ...valid, body: 'text' }), 'invalid_body', 'body'],
    [
      'with a repeated custom_id',
      json({ ...valid, custom_id: 'first' }),
      'duplicate_custom_id',
      'custom_id',
    ],
  ])('reports a line that is %s', async (_, content, code, param) => {
    const first = requestLine('first', { input: 'text' });
    const batch = await client.run(
      Buffer.concat([Buffer.from(`${first}\n`), Buffer.from(content)]),
    );
    expect(batch).toMatchObject({
      status: 'failed',
      failed_at: expect.any(Number),
      errors: { object: 'list', data: [{ code, param, line: 3 }] },
      output_file_id: null,
      error_file_id: null,
    });
  });

  it('rejects blank files, too many lines, and reports at most 100 problems', async () => {
    const codesOf = async (content: string) =>
      (await client.run(content)).errors?.data?.map(({ code }) => code);
    expect(await codesOf('\n \r\n\t\n')).toEqual(['empty_file']);
    expect(await codesOf('\n'.repeat(50_000))).toEqual(['empty_file']);
    const short = (count: number) =>
      Array.from({ length: count }, (_, i) => requestLine(`${i}`, {})).join('');
    expect(await codesOf(short(1001))).toEqual(['too_many_requests']);
    expect(await codesOf('x\n'.repeat(900))).toHaveLength(100);
  });

  it('accepts a byte order mark, CRLF and no line break at the end', async () => {
    const content = `\ufeff${LINE.trimEnd()}\r\n\r\n${requestLine('b', { input: 'b' }).trimEnd()}`;
    const { status, request_counts } = await client.run(content);
    expect({ status, request_counts }).toEqual({
      status: 'completed',
      request_counts: { total: 2, completed: 2, failed: 0 },
    });
  });
});

describe('batches', () => {
  it.each([
    [{ endpoint: '/v1/files' }, 400, 'endpoint'],
    [{ endpoint: '/v1/moderations' }, 400, 'endpoint'],
    [{ completion_window: '1h' }, 400, 'completion_window'],
    [{ input_file_id: 5 }, 400, 'input_file_id'],
    [{ metadata: [] }, 400, 'metadata'],
    [{ metadata: { a: 1 } }, 400, 'metadata'],
    [{ metadata: { a: 'x'.repeat(513) } }, 400, 'metadata'],
    [{ output_expires_after: { anchor: 'created_at', seconds: 1 } }, 400, null],
  ])('rejects %j', async (change, status, param) => {
    const id = await client.upload(LINE);
    const body = { input_file_id: id, endpoint: '/v1/embeddings', completion_window: '24h' };
    const creating = client.openai.batches.create({ ...body, ...change } as never);
    await expect(creating).rejects.toMatchObject({ status, ...(param && { error: { param } }) });
  });

  it('limits files, their size and unfinished batches', async () => {
    const folder = new Folder();
    const env = { FILES_DIR: folder.path, MAX_FILES: '3', MAX_BATCHES: '1' };
    const small = { FILE_LIMIT: '2mb', FILES_LIMIT: '2500kb' };
    const limited = await directory.start({ env: { ...env, ...small } });
    const other = new BatchClient(limited);
    const content = manyLines(10_000);
    const { id, input_file_id } = await other.create(content);
    const second = {
      input_file_id,
      endpoint: '/v1/embeddings',
      completion_window: '24h',
    } as const;
    const creating = other.openai.batches.create(second);
    await expect(creating).rejects.toMatchObject({ status: 413, message: /MAX_BATCHES/ });
    const full = await sendForm(limited, formOf(PURPOSE, formPart('file', 'x'.repeat(2e6), 'a')));
    expect(full).toMatchObject({ status: 413, text: expect.stringContaining('FILES_LIMIT') });
    // The output does not fit either: what is done so far can be downloaded.
    const batch = await other.ended(id);
    expect(batch).toMatchObject({ status: 'failed', errors: { data: [{ code: 'storage_full' }] } });
    const lines = await other.lines(batch.output_file_id);
    expect(lines).toHaveLength(batch.request_counts?.completed ?? -1);
    await other.openai.files.delete(input_file_id);
    const first = await other.upload(LINE);
    // The output file and the error file of a batch would be the third and the fourth.
    const results = other.openai.batches.create({ ...second, input_file_id: first });
    await expect(results).rejects.toMatchObject({ status: 413, message: /MAX_FILES/ });
    await other.upload(LINE);
    const last = await sendForm(limited, formOf(PURPOSE, FILE));
    expect(last).toMatchObject({ status: 413, text: expect.stringContaining('MAX_FILES') });
    await limited.stop();
    folder.remove();
  });

  it('describes its routes as valid OpenAPI', async () => {
    const { text } = await request(service, { path: '/openapi.json' });
    const script = path.join(__dirname, '..', 'scripts', 'validate-openapi.mjs');
    const result = execFileSync(process.execPath, [script], { input: text, encoding: 'utf8' });
    expect(JSON.parse(result)).toEqual({ valid: true, version: '3.1' });
    const { paths, tags } = JSON.parse(text);
    expect(Object.keys(paths['/v1/files'].post.requestBody.content)).toEqual([
      'multipart/form-data',
    ]);
    expect(paths['/v1/batches/{id}/cancel'].post.responses).toHaveProperty('404');
    const names = tags.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...new Set(names)]);
  });
});
