/** A model that is unloaded or replaced is freed with its last response, whatever JavaScript still refers to. */
import { renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { post, request } from '../helpers/http';
import { writeLargeModel } from '../helpers/large-model';
import { untilScraped } from '../helpers/metrics';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { deletedMaps, figuresOf, weightMaps } from '../helpers/process-figures';
import type { Service } from '../helpers/service';
import { SIGNAL } from '../helpers/services';
import { until } from '../helpers/until';

/** Of 150 MB: a model that is kept is more than everything else together. */
const LAYERS = 2;
const SWAPS = 10;
/** Before memory is measured: V8 and malloc take their working sets once. */
const SWAPS_BEFORE = 3;
const MOST_MB = 30;
const TEXT = { text: 'A warm, funny film.' };

afterAll(removeDirectories);

const repository = async (service: Service, name: string, what: 'load' | 'unload') => {
  const place = `/v2/repository/models/${name}/${what}`;
  const { status, text } = await request(service, { method: 'POST', path: place });
  expect([what, status, text]).toEqual([what, 200, '{}']);
};

it.each([
  [
    'unloaded and loaded from the same files',
    async (service: Service) => {
      await repository(service, 'large', 'unload');
      await repository(service, 'large', 'load');
    },
  ],
  [
    'replaced by other files',
    async (service: Service, folder: string) => {
      writeLargeModel(`${folder}.new`, LAYERS);
      renameSync(folder, `${folder}.old`);
      renameSync(`${folder}.new`, folder);
      rmSync(`${folder}.old`, { recursive: true });
      await repository(service, 'large', 'load');
    },
  ],
])(`frees a model that is ${SWAPS} times %s`, async (_, swap) => {
  const directory = newDirectory();
  const folder = path.join(directory.path, 'large');
  writeLargeModel(folder, LAYERS);
  const service = await directory.start();
  const pid = service.child.pid as number;
  const swapAndAsk = async () => {
    await swap(service, folder);
    expect((await post(service, '/models/large/analyze', TEXT)).status).toBe(200);
    expect(weightMaps(pid)).toHaveLength(1);
    expect(deletedMaps(pid)).toEqual([]);
  };
  for (let turn = 0; turn < SWAPS_BEFORE; turn++) await swapAndAsk();
  const before = figuresOf(pid).residentMb;
  const added: number[] = [];
  for (let turn = 0; turn < SWAPS; turn++) {
    await swapAndAsk();
    added.push(figuresOf(pid).residentMb - before);
  }
  expect(Math.max(...added)).toBeLessThan(MOST_MB);
});

/** By folder: its fixture, a route, and its settings. */
const KINDS: Readonly<
  Record<string, readonly [fixture: string, route: string, settings?: object]>
> = {
  safetensors: ['bert-single-label', 'analyze'],
  bin: ['bert-legacy-bin-base-keys', 'analyze'],
  int8: ['bert-single-label', 'analyze', { dtype: 'int8' }],
  unigram: ['camembert-two-labels-float16-bin', 'analyze'],
  torchscript: ['torchscript-traced-bert', 'analyze'],
  exported: ['exported-bert', 'analyze'],
  tagger: ['../tagging/bert', 'tag'],
  embedder: ['../embeddings/sentences/v2-all-modes', 'v1/embeddings'],
};

it(`frees models of every kind that are ${SWAPS} times unloaded and loaded`, async () => {
  const directory = newDirectory();
  for (const [name, [fixture, , settings]] of Object.entries(KINDS)) {
    directory.text(name, fixture, settings);
  }
  directory.signal('signals');
  const service = await directory.start();
  const pid = service.child.pid as number;
  const swapAll = async () => {
    for (const [name, [, route]] of Object.entries(KINDS)) {
      await repository(service, name, 'unload');
      await repository(service, name, 'load');
      const answer = await post(service, `/models/${name}/${route}`, { ...TEXT, input: TEXT.text });
      expect([name, answer.status, answer.text]).toEqual([name, 200, expect.anything()]);
    }
    await repository(service, 'signals', 'unload');
    await repository(service, 'signals', 'load');
    expect((await post(service, '/models/signals/predict', { signal: SIGNAL })).status).toBe(200);
  };
  const maps = weightMaps(pid);
  for (let turn = 0; turn < SWAPS_BEFORE; turn++) await swapAll();
  const before = figuresOf(pid);
  for (let turn = 0; turn < SWAPS; turn++) await swapAll();
  expect(figuresOf(pid).residentMb - before.residentMb).toBeLessThan(MOST_MB);
  // A connection of this process, or the thread that has freed the last one, may still be ending.
  await until('no thread or descriptor more', () => {
    const now = figuresOf(pid);
    return now.threads <= before.threads && now.descriptors <= before.descriptors;
  });
  expect(weightMaps(pid).toSorted()).toEqual(maps.toSorted());
});

it('answers what it has accepted, windows of long texts as well, and frees the model then', async () => {
  const directory = newDirectory();
  directory.text('tagger', '../tagging/bert');
  const service = await directory.start();
  const pid = service.child.pid as number;
  const body = { text: 'The film is good, Berlin. '.repeat(400), stride: 2 };
  const expected = await post(service, '/models/tagger/tag', body);
  expect(expected.status).toBe(200);
  const asked = Array.from({ length: 4 }, () => post(service, '/models/tagger/tag', body));
  await untilScraped('the first windows', service, (seen) => {
    const labels = { model: 'tagger', version: '1' };
    return (seen.value('libtorch_serve_batches_total', labels) ?? 0) > 4;
  });
  const unloaded = repository(service, 'tagger', 'unload');
  for (const answer of await Promise.all(asked)) {
    expect([answer.status, answer.text === expected.text]).toEqual([200, true]);
  }
  await unloaded;
  expect(weightMaps(pid)).toEqual([]);
  expect((await post(service, '/models/tagger/tag', body)).status).toBe(404);
});
