/** Files and batches of OpenAI's API on a disk that is full. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import {
  BatchClient,
  formOf,
  formPart,
  manyLines,
  requestLine,
  sendForm,
} from '../helpers/openai-batches';

const DISK_BYTES = 1024 ** 2;

afterAll(removeDirectories);

needs('mount').it('reports a full disk, and goes on', async () => {
  const directory = newDirectory();
  directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
  const disk = path.join(directory.path, '.disk');
  mkdirSync(disk);
  const service = await directory.start({
    env: { FILES_DIR: disk },
    program: 'unshare',
    nodeArgs: [
      ...['-rm', 'bash', '-c'],
      `mount -t tmpfs -o size=${DISK_BYTES} tmpfs '${disk}' && exec "$0" "$@"`,
      process.execPath,
    ],
  });
  /** The disk, which is mounted for the service only. */
  const seen = `/proc/${service.child.pid}/root${disk}`;
  const client = new BatchClient(service);
  const files = (): readonly string[] => readdirSync(path.join(seen, 'files'));

  const large = formPart('file', 'x'.repeat(2 * DISK_BYTES), 'a.jsonl');
  const { status, json } = await sendForm(service, formOf(formPart('purpose', 'batch'), large));
  const message = 'The disk of FILES_DIR is full. Delete files.';
  expect({ status, json }).toMatchObject({ status: 413, json: { error: { message } } });
  expect(files()).toEqual([]);

  // The output is larger than the input.
  const failed = await client.run(manyLines(4000));
  expect(failed).toMatchObject({
    status: 'failed',
    errors: { data: [{ code: 'server_error' }] },
    output_file_id: null,
  });
  expect(files().filter((name) => name.endsWith('.partial'))).toEqual([]);
  const { reason } = await service.waitForLog(({ msg }) => msg === 'batch failed');
  expect(reason).toContain('ENOSPC');

  // No space for the record of a batch.
  const content = requestLine('a', { input: 'a' });
  const id = await client.upload(content);
  const filler = path.join(seen, 'filler');
  expect(() => writeFileSync(filler, Buffer.alloc(2 * DISK_BYTES))).toThrow('ENOSPC');
  const body = { endpoint: '/v1/embeddings', completion_window: '24h' } as const;
  const creating = client.openai.batches.create({ input_file_id: id, ...body });
  await expect(creating).rejects.toMatchObject({ status: 413 });
  rmSync(filler);
  expect((await client.run(content)).status).toBe('completed');
  expect((await service.stop()).code).toBe(0);
});
