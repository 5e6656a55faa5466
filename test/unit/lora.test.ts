/** Folders of LoRA adapters: the base model, and errors that name file and key. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { readEmbeddingDirectory } from '../../src/tasks/embedding/model-directory';
import { reranking } from '../../src/tasks/registry';
import { TaskModel } from '../../src/tasks/task-model';
import { readTextClassifier } from '../../src/tasks/text-classification/model-directory';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import { Folder } from '../helpers/files';
import { copyLora, editJson } from '../helpers/lora';
import { editSafetensors } from '../helpers/safetensors';
import { SCHEDULING } from '../helpers/scheduling';

const SETTINGS = 'adapter_config.json';
const WEIGHTS = 'adapter_model.safetensors';
const NAME = 'bert-query-value';
const QUERY = 'base_model.model.bert.encoder.layer.0.attention.self.query';

let folder: Folder;
let models: string;
let adapter: string;

beforeEach(() => {
  folder = new Folder();
  models = path.join(folder.path, 'models');
  copyLora(models, 'bert');
  adapter = copyLora(models, NAME);
});

afterEach(() => folder.remove());

function problemOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

const problem = (): string => problemOf(() => readTextClassifier(adapter));

async function loadProblem(): Promise<string> {
  try {
    await (await TaskModel.load(textClassification, adapter, SCHEDULING)).close();
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

function baseOf(): string {
  const { source } = readTextClassifier(adapter);
  if (source.type !== 'text-encoder') throw new Error(source.type);
  return path.dirname(source.weightFiles[0] as string);
}

describe('the base model of an adapter', () => {
  const move = (name: string) => {
    renameSync(path.join(models, 'bert'), path.join(models, name));
    return path.join(models, name);
  };

  it.each([
    'bert',
    'example/bert',
    '../bert',
    './../bert/',
    '/home/somebody/models/bert',
    'C:\\models\\bert',
  ])('is found as %j', (named) => {
    editJson(adapter, SETTINGS, { base_model_name_or_path: named });
    expect(baseOf()).toBe(path.join(models, 'bert'));
  });

  it('is the folder that model.json names', () => {
    const base = move('.renamed');
    editJson(adapter, 'model.json', { base: '.renamed' });
    expect(baseOf()).toBe(base);
    editJson(adapter, 'model.json', { base: 'other' });
    expect(problem()).toMatch(/^model\.json: base: expected the folder "other"/);
    editJson(adapter, 'model.json', { base: '../models/.renamed' });
    expect(problem()).toBe('model.json: base: expected the name of a folder');
  });

  it('is next to the folder of the versions', () => {
    const versions = path.join(models, 'versions');
    mkdirSync(versions);
    renameSync(adapter, path.join(versions, '3'));
    adapter = path.join(versions, '3');
    expect(problem()).toMatch(/expected the folder "bert" of the base model/);
    editJson(versions, 'model.json', { base: 'bert' });
    expect(baseOf()).toBe(path.join(models, 'bert'));
    mkdirSync(path.join(models, 'base'));
    renameSync(path.join(models, 'bert'), path.join(models, 'base', '1'));
    editJson(versions, 'model.json', { base: 'base/1' });
    expect(baseOf()).toBe(path.join(models, 'base', '1'));
  });

  it('is the folder itself if it contains weights', async () => {
    const base = path.join(models, 'bert');
    for (const name of [SETTINGS, WEIGHTS]) {
      renameSync(path.join(adapter, name), path.join(base, name));
    }
    adapter = base;
    editJson(base, 'config.json', { num_labels: 3 });
    expect(baseOf()).toBe(base);
    expect(await loadProblem()).toBe('none');
  });

  it('must exist', () => {
    rmSync(path.join(models, 'bert'), { recursive: true });
    expect(problem()).toBe(
      `${SETTINGS}: base_model_name_or_path: expected the folder "bert" of the base model next to ` +
        'the adapter\'s folder, found none. Copy the base model there, or set "base" in model.json',
    );
    editJson(adapter, SETTINGS, { base_model_name_or_path: null });
    expect(problem()).toBe(
      `${SETTINGS}: base_model_name_or_path: required, but missing. Set "base" in model.json`,
    );
  });

  it.each([
    '../../outside',
    '../../../outside',
    '/outside',
    '..',
    '.',
    '../',
    '../bert/../../outside',
    'x\u0000/outside',
    '',
  ])('is never outside of the directory of models: %j', (named) => {
    renameSync(path.join(models, 'bert'), path.join(folder.path, 'outside'));
    editJson(adapter, SETTINGS, { base_model_name_or_path: named });
    expect(problem()).toMatch(
      /^adapter_config\.json: base_model_name_or_path: expected the folder/,
    );
  });

  it('is in the repository if the name of the adapter is a number', () => {
    renameSync(path.join(models, 'bert'), path.join(folder.path, 'bert'));
    renameSync(adapter, path.join(models, '3'));
    adapter = path.join(models, '3');
    expect(problem()).toMatch(/expected the folder "bert" of the base model/);
  });

  it('is no link to the outside', () => {
    renameSync(path.join(models, 'bert'), path.join(folder.path, 'outside'));
    symlinkSync(path.join(folder.path, 'outside'), path.join(models, 'bert'));
    expect(problem()).toMatch(/^bert: is a link that leads out of the directory of models/);
    rmSync(path.join(models, 'bert'));
    symlinkSync('bert', path.join(models, 'bert'));
    expect(problem()).toBe('bert: cannot be read: ELOOP');
  });

  it('is no adapter', () => {
    copyLora(models, 'bert-one-label');
    editJson(adapter, SETTINGS, { base_model_name_or_path: 'bert-one-label' });
    editJson(path.join(models, 'bert-one-label'), SETTINGS, { base_model_name_or_path: NAME });
    expect(problem()).toMatch(
      /base_model_name_or_path: the base model "bert-one-label" is an adapter/,
    );
    editJson(adapter, SETTINGS, { base_model_name_or_path: `../${NAME}` });
    expect(problem()).toMatch(/expected the folder "bert-query-value" of the base model/);
  });

  it('has weights, not a program', () => {
    const base = path.join(models, 'bert');
    rmSync(path.join(base, 'model.safetensors'));
    writeFileSync(path.join(base, 'model.pt2'), '');
    expect(problem()).toBe('model.pt2: the base model of an adapter needs weights, not a program');
  });

  it('has the architecture that config.json of the adapter names', () => {
    editJson(adapter, 'config.json', { model_type: 'roberta' });
    expect(problem()).toMatch(/^config\.json: model_type: expected "bert" as in the base model/);
  });

  it('counts among the files of the model', () => {
    const files = readTextClassifier(adapter).files.map((file) => path.relative(models, file));
    expect(new Set(files)).toEqual(
      new Set([
        ...[SETTINGS, WEIGHTS].map((name) => path.join(NAME, name)),
        ...['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'].map(
          (name) => path.join('bert', name),
        ),
      ]),
    );
  });

  it('gives its tokenizer, unless the adapter has one', () => {
    const directoryOf = () => readTextClassifier(adapter).source as { tokenizerDirectory: string };
    expect(directoryOf().tokenizerDirectory).toBe(path.join(models, 'bert'));
    const tokenizer = path.join(models, 'bert', 'tokenizer.json');
    renameSync(tokenizer, path.join(adapter, 'tokenizer.json'));
    expect(directoryOf().tokenizerDirectory).toBe(adapter);
  });

  it('gives the modules of sentence-transformers', () => {
    const embedder = copyLora(models, 'bert-embedder');
    const base = path.join(models, 'bert');
    const modules = ['Transformer', 'Pooling', 'Normalize'].map((type, index) => ({
      ...{ idx: index, name: String(index), path: index === 1 ? '1_Pooling' : '' },
      type: `sentence_transformers.models.${type}`,
    }));
    modules[2] = { ...(modules[2] as (typeof modules)[number]), path: '2_Normalize' };
    writeFileSync(path.join(base, 'modules.json'), JSON.stringify(modules));
    mkdirSync(path.join(base, '1_Pooling'));
    editJson(path.join(base, '1_Pooling'), 'config.json', { pooling_mode_cls_token: true });
    expect(embedding.findModelPaths(embedder)).toEqual([embedder]);
    const { source, metadata } = readEmbeddingDirectory(embedder);
    expect(metadata).toMatchObject({ pooling: ['cls'], normalizes: true, isBareEncoder: false });
    expect(source).toMatchObject({ adapter: { weightFile: path.join(embedder, WEIGHTS) } });
    // A classifier on the same base does not embed.
    expect(embedding.findModelPaths(adapter)).toEqual([]);
    expect(textClassification.findModelPaths(adapter)).toEqual([adapter]);
  });
});

describe('adapter_config.json', () => {
  it.each([
    [{ peft_type: 'IA3' }, /^adapter_config\.json: peft_type: expected "LORA", found "IA3"$/],
    [{ use_dora: true }, /^adapter_config\.json: use_dora: expected false, received true\. Merge/],
    [{ lora_bias: true }, /^adapter_config\.json: lora_bias: /],
    [{ fan_in_fan_out: true }, /^adapter_config\.json: fan_in_fan_out: /],
    [{ init_lora_weights: 'pissa' }, /^adapter_config\.json: init_lora_weights: .*"pissa"/],
    [{ layer_replication: [[0, 1]] }, /^adapter_config\.json: layer_replication: /],
    [{ task_type: 'SEQ_2_SEQ_LM' }, /^adapter_config\.json: task_type: expected CAUSAL_LM, /],
    [{ r: 1e9 }, /^adapter_config\.json: r: /],
    [{ r: 0 }, /^adapter_config\.json: r: /],
    [{ lora_alpha: 'x' }, /^adapter_config\.json: lora_alpha: /],
    [{ rank_pattern: { '(a+)+$': 3 } }, /^adapter_config\.json: rank_pattern/],
    [{ alpha_pattern: { query: 'x' } }, /^adapter_config\.json: alpha_pattern\.query: /],
  ])('%j is rejected', (entries, expected) => {
    editJson(adapter, SETTINGS, entries);
    expect(problem()).toMatch(expected);
  });

  it('sets rank and scale of each layer', () => {
    editJson(adapter, SETTINGS, {
      ...{ r: 4, lora_alpha: 8, use_rslora: true },
      rank_pattern: { '^bert.encoder.layer.0.attention.self.query': 16, 'self.value': 25 },
      alpha_pattern: { 'layer.1.attention.self.query': 3, ayer: 9 },
    });
    const { source } = readTextClassifier(adapter);
    const layer = (name: string) => `bert.encoder.layer.${name}`;
    expect(source).toMatchObject({
      adapter: {
        layers: {
          [layer('0.attention.self.query')]: { rank: 16, scale: 2 },
          [layer('0.attention.self.value')]: { rank: 25, scale: 8 / 5 },
          [layer('1.attention.self.query')]: { rank: 4, scale: 1.5 },
          [layer('1.attention.self.value')]: { rank: 25, scale: 8 / 5 },
        },
      },
    });
  });

  it('of one label makes a reranker', () => {
    const one = copyLora(models, 'bert-one-label');
    expect(reranking.read(one).metadata).toMatchObject({ labels: ['LABEL_0'] });
  });
});

describe('labels', () => {
  const labels = () => readTextClassifier(adapter).metadata.labels;

  it('are those of the adapter, else those of a base with as many, else numbers', () => {
    expect(labels()).toEqual(['LABEL_0', 'LABEL_1', 'LABEL_2']);
    const names = { 0: 'x', 1: 'y', 2: 'z' };
    editJson(path.join(models, 'bert'), 'config.json', { id2label: names });
    expect(labels()).toEqual(['x', 'y', 'z']);
    editJson(path.join(models, 'bert'), 'config.json', { id2label: { 0: 'x', 1: 'y' } });
    expect(labels()).toEqual(['LABEL_0', 'LABEL_1', 'LABEL_2']);
    editJson(adapter, 'config.json', { id2label: { 0: 'a', 1: 'b', 2: 'c' } });
    expect(labels()).toEqual(['a', 'b', 'c']);
  });
});

describe('adapter_model.safetensors', () => {
  const edit = (change: Parameters<typeof editSafetensors>[1]) =>
    editSafetensors(path.join(adapter, WEIGHTS), change);
  const rename = (from: string, to: string) =>
    edit((header) => {
      header[to] = header[from] as (typeof header)[string];
      delete header[from];
    });

  it('must exist', () => {
    rmSync(path.join(adapter, WEIGHTS));
    expect(problem()).toBe(`${WEIGHTS}: not found`);
    writeFileSync(path.join(adapter, 'adapter_model.bin'), '');
    expect(problem()).toMatch(/^adapter_model\.bin: expected adapter_model\.safetensors\. /);
  });

  it('must be valid', () => {
    writeFileSync(path.join(adapter, WEIGHTS), 'no tensors');
    expect(problem()).toBe(`${WEIGHTS}: is not a valid safetensors file`);
  });

  it('has factors of the rank', async () => {
    editJson(adapter, SETTINGS, { r: 3 });
    expect(await loadProblem()).toMatch(
      /^adapter_model\.safetensors: bert\.\S+\.lora_[AB]\.weight: has shape \[4, 32\], expected \[3, 32\]/,
    );
    editJson(adapter, SETTINGS, { r: 65_536 });
    expect(await loadProblem()).toMatch(/has shape \[4, 32\], expected \[65536, 32\]/);
  });

  it('has factors of the size of the layer', async () => {
    edit((header) => {
      const tensor = header[`${QUERY}.lora_B.weight`];
      if (tensor) tensor.shape = [4, 32];
    });
    expect(await loadProblem()).toMatch(
      /query\.lora_B\.weight: has shape \[4, 32\], expected \[32, 4\]/,
    );
  });

  it('has both factors', async () => {
    edit((header) => {
      header.unused = header[`${QUERY}.lora_A.weight`] as (typeof header)[string];
      delete header[`${QUERY}.lora_A.weight`];
    });
    expect(await loadProblem()).toMatch(
      /^adapter_model\.safetensors: unused: expected a name that/,
    );
    rename('unused', 'base_model.model.classifier.unused');
    expect(await loadProblem()).toMatch(/query\.lora_A\.weight: is missing, expected/);
  });

  it.each(['bert.encoder.layer.7.output.dense', 'encoder.layer.7.output.dense', 'other'])(
    'has no factors of an unknown layer: %s',
    async (layer) => {
      for (const factor of ['lora_A', 'lora_B']) {
        rename(`${QUERY}.${factor}.weight`, `base_model.model.${layer}.${factor}.weight`);
      }
      const found = await loadProblem();
      expect(found).toMatch(/^adapter_model\.safetensors: /);
      expect(found).toContain(`${layer}.lora_A.weight`);
      expect(found).toMatch(/unexpected, the model has no such weight$/);
    },
  );

  it('belongs to a base of its architecture', async () => {
    copyLora(models, 'roberta');
    editJson(adapter, SETTINGS, { base_model_name_or_path: 'roberta' });
    expect(await loadProblem()).toMatch(/bert\.encoder\.layer|classifier/);
  });
});
