/** Directories of models as nobody means them. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { post, request } from '../helpers/http';
import {
  FIRST,
  modelOf,
  modelsOf,
  newDirectory,
  removeDirectories,
  untilModel,
} from '../helpers/models-directory';
import { FIXTURES, startService } from '../helpers/service';

const NEVER = String(2 ** 31 - 1);
const TEXT = { text: 'A warm, funny film.' };

afterAll(removeDirectories);

it('looks at a thousand of ten thousand folders, and says so', async () => {
  const directory = newDirectory();
  for (let i = 0; i < 10_000; i++) mkdirSync(path.join(directory.path, `m${i}`));
  const service = await directory.start();
  expect((await request(service, { path: '/health' })).status).toBe(200);
  expect(await modelsOf(service)).toHaveLength(1000);
  const said = service.logs.filter(({ msg }) =>
    msg.includes('9000 folders over the limit of 1000'),
  );
  expect(said).toHaveLength(1);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

it('serves beside a model that never comes back from its load, and ends with 0', async () => {
  const directory = newDirectory();
  const hung = path.join(FIXTURES, 'eeg', 'slow-always.pt');
  directory.file('a-hung/model.pt', hung);
  for (let i = 0; i < 9; i++) directory.text(`films-${i}`, FIRST);
  const service = await startService('models', {
    args: [directory.path],
    env: { INFERENCE_TIMEOUT_MS: NEVER },
  });
  await untilModel(service, 'films-8', 'serves', (model) => model?.serving === '1');
  for (let i = 0; i < 9; i++) {
    expect((await post(service, `/models/films-${i}/analyze`, TEXT)).status).toBe(200);
  }
  expect((await modelOf(service, 'a-hung'))?.versions).toEqual([
    { version: '1', state: 'loading', reason: null },
  ]);
  expect((await request(service, { path: '/ready' })).status).toBe(503);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});
