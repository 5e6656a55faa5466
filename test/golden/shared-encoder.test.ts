/** Classifiers on one frozen base: the bits of each alone, and one pass of the encoder for a text. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { modelConfig, readDirectory, weightsSource } from '../../src/models/hugging-face/directory';
import { findModelFiles } from '../../src/models/hugging-face/weight-files';
import { addon } from '../../src/native/addon';
import { type Dtype, Engine, type TextHead } from '../../src/native/engine';
import { readGolden } from '../helpers/golden';
import { editJson } from '../helpers/lora';
import { SCHEDULING } from '../helpers/scheduling';
import { type Tensors, writeClassifier } from '../helpers/shared-base';

const MODELS = 6;
const CLASSIFIER: TextHead = { name: 'sequence-classification' };

const golden = readGolden('bert-single-label');
const texts = golden.texts.map(({ text }) => text);
/** Number of texts with different tokens. */
const INPUTS = new Set(golden.texts.map(({ input_ids }) => input_ids.join(' '))).size;
const root = mkdtempSync(path.join(tmpdir(), 'shared-encoder-'));
const folders = Array.from({ length: MODELS }, (_, model) => path.join(root, `model-${model}`));
const open: Engine[] = [];

beforeAll(() => {
  for (const [seed, folder] of folders.entries()) writeClassifier(folder, seed);
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((engine) => engine.close()));
});

afterAll(() => rmSync(root, { recursive: true }));

async function load(folder: string, options: { head?: TextHead; dtype?: Dtype } = {}) {
  const { head = CLASSIFIER, dtype } = options;
  const { config } = readDirectory(folder, modelConfig);
  const found = findModelFiles(folder);
  if ('program' in found) throw new Error(`${folder}: expected weights`);
  const { weightFiles } = found;
  const source = weightsSource(folder, config, { weightFiles, head, added: {} });
  const engine = await Engine.load(source, { ...SCHEDULING, ...(dtype && { dtype }) });
  open.push(engine);
  return engine;
}

/** Values of each text. */
async function valuesOf(engine: Engine): Promise<readonly Float32Array[]> {
  const all = await Promise.all(texts.map((text) => engine.infer({ text })));
  return all.map(({ values }) => values);
}

/** Values of each text of a model that no other one shares the encoder with. */
async function valuesAlone(folder: string, options: { head?: TextHead; dtype?: Dtype } = {}) {
  const engine = await load(folder, options);
  const values = await valuesOf(engine);
  expect(engine.stats().reusedStates).toBe(0);
  await engine.close();
  return values;
}

/** Number of passes of the encoder for the inputs of all models, without those at their load. */
function passesOf(engines: readonly Engine[]): number {
  return engines
    .map((engine) => engine.stats())
    .reduce((sum, { completed, reusedStates }) => sum + completed - reusedStates, 0);
}

it.each<Dtype>(['float32', 'bfloat16', 'int8'])(
  'six classifiers on one base have the bits of each alone, with one pass for a text: %s',
  async (dtype) => {
    if (addon().dtypeProblem(dtype) !== '') return; // test/golden/dtype.test.ts has what it says
    const expected: (readonly Float32Array[])[] = [];
    for (const folder of folders) expected.push(await valuesAlone(folder, { dtype }));
    const engines = await Promise.all(folders.map((folder) => load(folder, { dtype })));
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all(engines.map(valuesOf))).toEqual(expected);
    }
    expect(passesOf(engines)).toBe(INPUTS);
  },
);

it('one text that all models get at once is encoded once', async () => {
  const engines = await Promise.all(folders.map((folder) => load(folder)));
  for (const [index, text] of [...new Set(texts)].slice(0, 20).entries()) {
    await Promise.all(engines.map((engine) => engine.infer({ text: `${index} ${text}` })));
    expect(passesOf(engines)).toBeLessThanOrEqual(index + 1);
  }
});

it('the remaining models serve while a model is unloaded and loaded again', async () => {
  const expected: (readonly Float32Array[])[] = [];
  for (const folder of folders.slice(0, 3)) expected.push(await valuesAlone(folder));
  const [first, second] = await Promise.all(folders.slice(0, 2).map((folder) => load(folder)));
  let isChanging = true;
  const serve = async (engine: Engine | undefined, index: number): Promise<void> => {
    while (isChanging) expect(await valuesOf(engine as Engine)).toEqual(expected[index]);
  };
  const served = Promise.all([serve(first, 0), serve(second, 1)]);
  for (let round = 0; round < 5; round++) {
    const third = await load(folders[2] as string);
    const values = valuesOf(third);
    await values;
    const closed = third.close();
    expect(await values).toEqual(expected[2]);
    await closed;
  }
  isChanging = false;
  await served;
});

it('a model whose head reads all tokens has its own bits', async () => {
  const head: TextHead = {
    name: 'embedding',
    modules: [{ type: 'pooling', modes: ['mean'], includePrompt: true }],
  };
  const [folder, other] = folders as [string, string];
  const expected = [await valuesAlone(folder, { head }), await valuesAlone(other)];
  const engines = [await load(folder, { head }), await load(other)];
  expect(await Promise.all(engines.map(valuesOf))).toEqual(expected);
  // The classifier reads the first tokens only: other states of the last layer.
  expect(engines.map((engine) => engine.stats().reusedStates)).toEqual([0, 0]);
});

/** Changes one number of a tensor. */
function changed(name: string) {
  return (tensors: Tensors): Tensors => {
    const { shape, values } = tensors[name] as Tensors[string];
    const other = values.with(values.length - 1, (values.at(-1) as number) + 1e-3);
    return { ...tensors, [name]: { shape, values: other } };
  };
}

describe('models with different encoders share no pass', () => {
  const folder = path.join(root, 'other');

  afterEach(() => rmSync(folder, { recursive: true }));

  async function expectNotShared(options: { dtype?: Dtype } = {}): Promise<void> {
    const expected = await valuesAlone(folder, options);
    const engines = [await load(folders[0] as string), await load(folder, options)];
    const [, values] = await Promise.all(engines.map(valuesOf));
    expect(values).toEqual(expected);
    expect(engines.map((engine) => engine.stats().reusedStates)).toEqual([0, 0]);
  }

  it.each([
    'bert.embeddings.word_embeddings.weight',
    'bert.embeddings.LayerNorm.bias',
    'bert.encoder.layer.0.attention.self.query.weight',
    'bert.encoder.layer.1.output.dense.bias',
    'bert.encoder.layer.1.output.LayerNorm.weight',
  ])('one number of %s', async (name) => {
    writeClassifier(folder, 9, { edit: changed(name) });
    await expectNotShared();
  });

  it.each([{ layer_norm_eps: 1e-5 }, { hidden_act: 'relu' }, { num_attention_heads: 2 }])(
    '%o in config.json',
    async (entries) => {
      writeClassifier(folder, 9);
      editJson(folder, 'config.json', entries);
      await expectNotShared();
    },
  );

  it('another number format', async () => {
    writeClassifier(folder, 9);
    if (addon().dtypeProblem('int8') !== '') return; // test/golden/dtype.test.ts has what it says
    await expectNotShared({ dtype: 'int8' });
  });
});

it('entries of config.json that no encoder reads make no difference', async () => {
  const folder = path.join(root, 'renamed');
  writeClassifier(folder, 9);
  editJson(folder, 'config.json', { transformers_version: '4.40.0', problem_type: null });
  const engines = [await load(folders[0] as string), await load(folder)];
  for (const engine of engines) await valuesOf(engine);
  expect(engines[1]?.stats().reusedStates).toBe(texts.length);
});
