/** What remains of an interrupted process in FILES_DIR. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import { BatchOutput } from '../../../src/batches/batch-output';
import { BatchStore } from '../../../src/batches/batch-store';
import { FileStore } from '../../../src/batches/file-store';
import type { BatchRecord } from '../../../src/batches/records';
import type { RequestResult } from '../../../src/batches/run-request';
import { Folder } from '../../helpers/files';

const LIMITS = { maxBatches: 9, maxFiles: 9, fileLimit: 1000, filesLimit: 1000 };
const logger = pino({ level: 'silent' });
const folders: Folder[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

async function openStores(directory: string) {
  const batches = await BatchStore.open(directory, LIMITS, logger);
  const outputs = new Set(batches.unfinished.flatMap((one) => [one.outputFileId, one.errorFileId]));
  return { batches, files: await FileStore.open(directory, LIMITS, outputs, logger) };
}

/** A batch of a new directory. */
async function newBatch() {
  const folder = new Folder();
  folders.push(folder);
  const stores = await openStores(folder.path);
  const { id } = await stores.batches.create({
    owner: '',
    endpoint: '/v1/embeddings',
    inputFileId: `file-${'0'.repeat(32)}`,
    completionWindow: '24h',
    metadata: null,
    outputExpiresAfter: 3600,
  });
  return { id, stores, directory: folder.path };
}

const find = ({ batches }: { readonly batches: BatchStore }, id: string): BatchRecord =>
  batches.find(id, null) as BatchRecord;

const done: RequestResult = { isSuccess: true, isExpired: false, line: Buffer.from('{"a":1}\n') };
const expired: RequestResult = { isSuccess: false, isExpired: true, line: Buffer.from('{}\n') };

it('knows after an interruption that requests have expired, and the sizes of the files', async () => {
  const { id, stores, directory } = await newBatch();
  const output = await BatchOutput.open(find(stores, id), stores);
  await output.write([done], 1);
  expect(output.hasExpired).toBe(false);
  await output.write([expired, expired], 3);
  await output.write([done], 4);
  await output.close();
  expect(output.hasExpired).toBe(true);

  const later = await openStores(directory);
  const resumed = await BatchOutput.open(find(later, id), later);
  expect({ hasExpired: resumed.hasExpired, requests: resumed.requests }).toEqual({
    hasExpired: true,
    requests: 4,
  });
  expect(find(later, id).counts).toMatchObject({ completed: 2, failed: 2 });
  expect([later.files.bytes, stores.files.bytes]).toEqual([22, 22]);
  await resumed.close();
});

it('removes journals of ended batches and the rest of interrupted writes', async () => {
  const { id, stores, directory } = await newBatch();
  const folder = path.join(directory, 'batches');
  const journal = stores.batches.journalPath(id);
  writeFileSync(journal, '{}\n');
  writeFileSync(path.join(folder, `${id}.json.partial`), '{');
  writeFileSync(path.join(folder, 'notes.json.partial'), 'a file of somebody');
  await openStores(directory);
  expect(existsSync(journal)).toBe(true); // the batch continues
  await stores.batches.setStatus(id, 'completed');
  await openStores(directory);
  expect(readdirSync(folder).sort()).toEqual([`${id}.json`, 'notes.json.partial']);
});
