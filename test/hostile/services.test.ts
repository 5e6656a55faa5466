// Some of each kind behind HTTP: the service says what it could not load, and serves.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { post, request } from '../helpers/http';
import { killAll, startService } from '../helpers/service';
import { expectError, SERVICE_CASES } from '../helpers/services';
import { build, type HostileCase } from './case';
import { KINDS } from './kinds';

/** By name, from all kinds. */
const CHOSEN: readonly string[] = [
  'a model.safetensors of a header of 2^63 bytes',
  'a model.safetensors of a NaN in a matrix',
  'a model.safetensors that is a pipe',
  'an index that names an absolute path',
  'a model.safetensors that is a link out of the folder',
  'a num_hidden_layers that is a billion',
  'a num_labels of a billion',
  'a config.json of 4 GB',
  'an ALBERT of a billion layers',
  'a DeBERTa of a billion positions',
  'a tokenizer.json 1,000,000 deep',
  'a BPE tokenizer.json of an expression that explodes',
  'a tokenizer.json of twice the vocabulary',
  'an spm.model of rules of a size that is a lie',
  'an archive of a pickle that calls os.system',
  'an archive of tensors of stride 0, of 20 GB',
  'an eeg_model.json of 100,000 classes',
  'an eeg_model.json that is a link to /etc/passwd',
];

let temporary: string;

beforeAll(() => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'hostile-services-'));
});
afterAll(async () => {
  await killAll();
  rmSync(temporary, { recursive: true });
});

function chosen(name: string): HostileCase {
  const found = Object.values(KINDS)
    .flat()
    .find((one) => one.name === name);
  if (!found) throw new Error(`there is no case ${name}`);
  return found;
}

it.each(CHOSEN)('%s: serves as not loaded', async (name) => {
  const one = chosen(name);
  const folder = path.join(mkdtempSync(path.join(temporary, 'case-')), 'model');
  mkdirSync(folder);
  build(one, folder);
  const env =
    one.service === 'eeg'
      ? { EEG_MODEL_PATH: path.join(folder, 'eeg_model.pt') }
      : { SENTIMENT_MODEL_DIR: folder };
  const service = await startService(one.service, { env });
  const { path: endpoint, body } = SERVICE_CASES.find(({ name }) => name === one.service) ?? {
    path: '',
    body: {},
  };
  const health = await request(service, { path: '/health' });
  expect([health.status, health.json]).toEqual([200, { status: 'healthy', model_loaded: false }]);
  expectError(await post(service, endpoint, body), 500, 'Model is not loaded.');
  const info = (await request(service, { path: '/info' })).json as {
    readonly model: { readonly reason: string };
  };
  expect(info.model.reason).toMatch(one.error);
  expect(info.model.reason).not.toContain(temporary);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(service.stderr).toBe('');
  const [line] = service.logs.filter(({ level }) => level === 'error');
  expect(line?.msg.replace(/^Model is not loaded: /, '')).toMatch(one.error);
});
