// Expressions that no trial at load finds, on the texts that they are slow on: what is left is that
// others are served, that such a request ends, and that the process does.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { analyze, request } from '../helpers/http';
import { FIXTURES, killAll, type Service, startService } from '../helpers/service';
import { pattern } from './tokenizers';

/** U+0561, written so that no trial takes it for one of its letters. */
const LETTER = '\\x{561}';
const TEXT = 'ա';

let temporary: string;
let folder: string;

beforeEach(() => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'slow-patterns-'));
  folder = path.join(temporary, 'model');
  mkdirSync(folder);
  cpSync(path.join(FIXTURES, 'models', 'modernbert-float16'), folder, { recursive: true });
});
afterEach(() => rmSync(temporary, { recursive: true }));
afterAll(killAll);

function start(regex: string): Promise<Service> {
  pattern(regex)(folder);
  return startService('sentiment', { env: { SENTIMENT_MODEL_DIR: folder } });
}

it('that go back without end: the request fails, and the next one is answered', async () => {
  const service = await start(`(${LETTER}+)+$`);
  expect((await analyze(service, `${TEXT.repeat(100)}!`)).status).toBe(500);
  expect((await analyze(service, 'A quiet, funny film.')).status).toBe(200);
  expect((await request(service, { path: '/health' })).status).toBe(200);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});
