/** LoRA adapters next to their base in a model repository: results, reloading, shared memory. */
import { closeSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { readFixture } from '../helpers/golden';
import { post } from '../helpers/http';
import { writeLargeModel } from '../helpers/large-model';
import { copyLora, editJson, writeSafetensors } from '../helpers/lora';
import {
  type ModelsDirectory,
  modelOf,
  newDirectory,
  removeDirectories,
  untilModel,
} from '../helpers/models-directory';
import { figuresOf } from '../helpers/process-figures';
import { type Service, startService } from '../helpers/service';
import { until } from '../helpers/until';

afterAll(removeDirectories);

const ADAPTER = 'bert-all-linear';
const TEXT = 'The film is a quiet marvel: patient, funny and never cruel.';

async function classify(service: Service, model: string): Promise<unknown> {
  const { json, status } = await post(service, `/models/${model}/analyze`, { text: TEXT });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json;
}

it('adapters are served next to their base, and reloaded with it', async () => {
  const models = newDirectory();
  const base = copyLora(models.path, 'bert');
  copyLora(models.path, ADAPTER);
  copyLora(models.path, 'bert-embedder');
  const service = await models.start({ env: { MODELS_WATCH: 'true' } });
  const { rows } = readFixture<{
    readonly rows: readonly { readonly text: number; readonly values: readonly number[] }[];
  }>('lora', ADAPTER, 'golden.json');
  const [first = 0, second = 0] = rows.find(({ text }) => text === 5)?.values ?? [];
  const score = 1 / (1 + Math.exp(-Math.abs(first - second)));
  expect(await classify(service, ADAPTER)).toEqual({
    input_text: TEXT,
    label: first > second ? 'spam' : 'ham',
    score: Math.round(score * 1e4) / 1e4,
  });
  expect(await modelOf(service, 'bert-embedder')).toMatchObject({ task: 'embedding' });
  // The base gets label names, which the adapter without config.json of its own takes over.
  models.remove(path.join(ADAPTER, 'config.json'));
  editJson(base, 'config.json', { id2label: { 0: 'no', 1: 'yes' } });
  await until('labels of the base', async () => {
    const { label } = (await classify(service, ADAPTER)) as { label: string };
    return label === 'no' || label === 'yes';
  });
  models.remove('bert');
  await untilModel(service, ADAPTER, 'has a load error', (model) =>
    Boolean(model?.versions.some(({ reason }) => reason?.includes('base_model_name_or_path'))),
  );
  // The loaded model continues to serve.
  expect(await classify(service, ADAPTER)).toMatchObject({ input_text: TEXT });
});

it('a path to an adapter without its base reports the load error', async () => {
  const models = newDirectory();
  const adapter = copyLora(models.path, ADAPTER);
  const service = await startService('models', { args: [adapter] });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
  const model = await modelOf(service, ADAPTER);
  expect(model?.versions[0]?.reason).toMatch(/base_model_name_or_path: expected the folder "bert"/);
});

/** Layers of 28 MB each in the base. */
const LAYERS = 4;
const LAYER_MB = 28;
const ADAPTERS = 6;
const HIDDEN = 768;
const RANK = 8;

/** Fills the weights of a model with distinct small numbers: equal layers would be shared anyway. */
function fillWeights(file: string): void {
  const header = 8 + Number(readFileSync(file).readBigUInt64LE());
  const descriptor = openSync(file, 'r+');
  const count = (fstatSync(descriptor).size - header) / 4;
  const values = new Float32Array(count);
  let state = 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    values[i] = (state / 2 ** 32 - 0.5) / 20;
  }
  writeSync(descriptor, new Uint8Array(values.buffer), 0, values.byteLength, header);
  closeSync(descriptor);
}

function writeAdapter(folder: string, seed: number): void {
  editJson(folder, 'adapter_config.json', {
    ...{ peft_type: 'LORA', task_type: 'SEQ_CLS', base_model_name_or_path: 'base' },
    ...{ r: RANK, lora_alpha: RANK },
  });
  const factor = (shape: readonly [number, number]) => ({
    shape,
    values: new Float32Array(shape[0] * shape[1]).fill(seed / 1000),
  });
  const layers = Array.from({ length: LAYERS }, (_, layer) =>
    ['query', 'value'].map((name) => `bert.encoder.layer.${layer}.attention.self.${name}`),
  ).flat();
  const tensors = layers.flatMap((layer) => [
    [`base_model.model.${layer}.lora_A.weight`, factor([RANK, HIDDEN])] as const,
    [`base_model.model.${layer}.lora_B.weight`, factor([HIDDEN, RANK])] as const,
  ]);
  writeSafetensors(path.join(folder, 'adapter_model.safetensors'), Object.fromEntries(tensors));
}

/** Anonymous memory of a service once all models are loaded, MB. */
async function anonymousMb(models: ModelsDirectory): Promise<number> {
  const service = await models.start({ env: { WORKERS: '1' } });
  const { anonymousMb: held } = figuresOf(service.child.pid as number);
  await service.stop();
  return held;
}

it('six adapters need the memory of one base', async () => {
  const one = newDirectory();
  writeLargeModel(path.join(one.path, 'base'), LAYERS);
  fillWeights(path.join(one.path, 'base', 'model.safetensors'));
  const alone = await anonymousMb(one);
  for (let seed = 1; seed <= ADAPTERS; seed++) {
    one.write(`adapter-${seed}/model.json`, '{}');
    writeAdapter(path.join(one.path, `adapter-${seed}`), seed);
  }
  const all = await anonymousMb(one);
  expect(alone).toBeGreaterThan(LAYERS * LAYER_MB);
  // Without sharing, each adapter would add the layers of the base.
  expect(all - alone).toBeLessThan(LAYERS * LAYER_MB);
});
