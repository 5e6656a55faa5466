import { cpSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { Folder } from '../helpers/files';
import { analyze, predict, request } from '../helpers/http';
import {
  FIXTURES,
  killAll,
  NodeProcess,
  ROOT,
  type Service,
  startService,
} from '../helpers/service';
import { SIGNAL } from '../helpers/services';

const CLASSIFIER = path.join(FIXTURES, 'models', 'bert-single-label');
const EEG = path.join(ROOT, 'models', 'eeg');

const folder = new Folder();

afterAll(async () => {
  await killAll();
  folder.remove();
});

async function serve(...paths: readonly string[]): Promise<Service> {
  const service = await startService('serve', { args: paths });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
  return service;
}

async function modelsOf(service: Service): Promise<readonly unknown[]> {
  const { json } = await request(service, { path: '/info' });
  const { models } = json as {
    models: readonly { name: string; task: string; required: boolean }[];
  };
  return models.map(({ name, task, required }) => [name, task, required]);
}

const TEXTS = 'text-classification';
const SIGNALS = 'signal-classification';

describe('serve PATH…', () => {
  it('serves a model folder, at the root and below its name', async () => {
    const service = await serve(CLASSIFIER);
    expect(await modelsOf(service)).toEqual([['bert-single-label', TEXTS, true]]);
    expect((await analyze(service, 'good')).status).toBe(200);
    expect((await request(service, { path: '/models/bert-single-label/info' })).status).toBe(200);
    expect((await request(service, { path: '/ready' })).status).toBe(200);
    await service.stop();
  });

  it.each([
    ['a model file', path.join(EEG, 'eeg_model.pt'), 'eeg_model'],
    ['a folder with one model file', EEG, 'eeg'],
  ])('serves %s', async (_what, given, name) => {
    const service = await serve(given);
    expect(await modelsOf(service)).toEqual([[name, SIGNALS, true]]);
    expect((await predict(service, SIGNAL)).status).toBe(200);
    await service.stop();
  });

  it('serves several paths together: a model, a file and a directory of models', async () => {
    mkdirSync(path.join(folder.path, 'many', 'waves'), { recursive: true });
    for (const name of ['eeg_model.pt', 'eeg_model.json']) {
      cpSync(path.join(EEG, name), path.join(folder.path, 'many', 'waves', name));
    }
    const service = await serve(
      CLASSIFIER,
      path.join(EEG, 'eeg_model.pt'),
      path.join(folder.path, 'many'),
    );
    expect(await modelsOf(service)).toEqual([
      ['bert-single-label', TEXTS, true],
      ['eeg_model', SIGNALS, true],
      ['waves', SIGNALS, false],
    ]);
    await service.stop();
  });

  it('reports two paths with one name, and serves the first', async () => {
    mkdirSync(path.join(folder.path, 'same'), { recursive: true });
    cpSync(CLASSIFIER, path.join(folder.path, 'same', 'eeg'), { recursive: true });
    const service = await serve(EEG, path.join(folder.path, 'same', 'eeg'));
    expect(await modelsOf(service)).toEqual([['eeg', SIGNALS, true]]);
    expect(service.logs).toContainEqual(
      expect.objectContaining({
        msg: expect.stringContaining('"eeg": several paths have this name'),
      }),
    );
    await service.stop();
  });

  it('is not ready while the model that it was given cannot be loaded', async () => {
    const broken = path.join(folder.path, 'broken');
    cpSync(CLASSIFIER, broken, { recursive: true });
    folder.put('broken/config.json', '{}');
    const service = await startService('serve', { args: [broken] });
    await service.waitForLog(({ msg }) => msg.startsWith('Model is not loaded: '));
    const ready = await request(service, { path: '/ready' });
    expect([ready.status, ready.text]).toEqual([
      503,
      expect.stringContaining('Model broken is not ready: config.json: '),
    ]);
    await service.stop();
  });

  it.each([
    ['a path that does not exist', ['/nonexistent/model'], /no such file or directory$/],
    ['a file that is no model', [path.join(ROOT, 'README.md')], /expected a model folder, or a/],
    ['no path', [], /^libtorch-serve: MODELS_DIR: required by serve\./],
  ])('rejects %s with exit code 2', async (_what, paths, line) => {
    const child = new NodeProcess({ args: ['serve', ...paths], env: {} });
    expect(await child.exit).toEqual({ code: 2, signal: null });
    expect(child.stderr.trimEnd()).toMatch(line);
  });
});
