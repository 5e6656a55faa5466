import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ModelFileError } from '../../src/models/files';
import { labelNames } from '../../src/models/hugging-face/labels';
import { readTextClassifier } from '../../src/tasks/text-classification/model-directory';

const CONFIG = {
  architectures: ['BertForSequenceClassification'],
  model_type: 'bert',
  hidden_size: 32,
  layer_norm_eps: 1e-12,
  is_decoder: false,
  bos_token_id: null,
  id2label: { 0: 'NEGATIVE', 1: 'POSITIVE' },
};

const RUST = path.resolve(__dirname, '../../native/tokenizers/src');
/** Of a tokenizer, in quotes. */
const FILE_NAMES = /"[a-z_.]+\.(json|txt|model)"/g;

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'model-'));
  write('config.json', CONFIG);
  write('model.safetensors', '');
});

afterEach(() => rmSync(directory, { recursive: true }));

function write(name: string, content: unknown): void {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(path.join(directory, name), text);
}

function remove(name: string): void {
  rmSync(path.join(directory, name));
}

function problem(): string {
  try {
    readTextClassifier(directory);
  } catch (error) {
    if (error instanceof ModelFileError) return error.message;
    throw error;
  }
  return 'none';
}

describe('readModelDirectory', () => {
  it('hands on the configuration and the number of labels', () => {
    expect(readTextClassifier(directory)).toEqual({
      source: {
        type: 'text-encoder',
        modelType: 'bert',
        head: { name: 'sequence-classification' },
        config: {
          'architectures.0': 'BertForSequenceClassification',
          model_type: 'bert',
          hidden_size: 32,
          layer_norm_eps: 1e-12,
          is_decoder: false,
          bos_token_id: null,
          num_labels: 2,
        },
        weightFiles: [path.join(directory, 'model.safetensors')],
        tokenizerDirectory: directory,
      },
      files: ['config.json', 'model.safetensors'].map((name) => path.join(directory, name)),
      metadata: {
        labels: ['NEGATIVE', 'POSITIVE'],
        scoreFunction: 'softmax',
        modelType: 'bert',
        namedEntailment: null,
        calibration: null,
        name: null,
        version: null,
      },
    });
  });

  it('names the files that a model is loaded from, and no other', () => {
    write('tokenizer.json', {});
    write('README.json', {});
    write('training_args.bin', {});
    const { files } = readTextClassifier(directory);
    const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
    expect(files).toEqual(names.map((name) => path.join(directory, name)));
  });

  it('hands on what is nested under its path, but for the label tables', () => {
    write('config.json', {
      model_type: 'modernbert',
      layer_types: ['full_attention', 'sliding_attention'],
      rope_parameters: { full_attention: { rope_type: 'default', rope_theta: 160000 } },
      id2label: { 0: 'a', 1: 'b' },
      label2id: { a: 0, b: 1 },
    });
    const { source } = readTextClassifier(directory);
    expect(source).toHaveProperty('config', {
      model_type: 'modernbert',
      'layer_types.0': 'full_attention',
      'layer_types.1': 'sliding_attention',
      'rope_parameters.full_attention.rope_type': 'default',
      'rope_parameters.full_attention.rope_theta': 160000,
      num_labels: 2,
    });
  });

  it.each([
    [{ id2label: { 0: 'a', 1: 'b', 2: 'c' } }, ['a', 'b', 'c'], 'softmax'],
    [{ id2label: { 2: 'c', 0: 'a', 1: 'b' }, num_labels: 5 }, ['a', 'b', 'c'], 'softmax'],
    [{ id2label: { 0: 'a', 2: 'c' } }, ['a', 'LABEL_1'], 'softmax'],
    [{ id2label: null, num_labels: 3 }, ['LABEL_0', 'LABEL_1', 'LABEL_2'], 'softmax'],
    [{ id2label: undefined }, ['LABEL_0', 'LABEL_1'], 'softmax'],
    [{ id2label: { 0: 'STARS' } }, ['STARS'], 'sigmoid'],
    [{ id2label: { 0: 'STARS' }, problem_type: 'regression' }, ['STARS'], 'none'],
    [{ problem_type: 'multi_label_classification' }, ['NEGATIVE', 'POSITIVE'], 'sigmoid'],
    // The configuration's own choice never comes before the rules of transformers.
    [{ function_to_apply: 'none' }, ['NEGATIVE', 'POSITIVE'], 'softmax'],
    [{ problem_type: null, architectures: null }, ['NEGATIVE', 'POSITIVE'], 'softmax'],
  ])('reads labels and score function of %j', (changes, labels, scoreFunction) => {
    write('config.json', { ...CONFIG, ...changes });
    expect(readTextClassifier(directory)).toMatchObject({
      metadata: { labels, scoreFunction },
      source: { config: { num_labels: labels.length } },
    });
  });

  it('finds shards by their index', () => {
    remove('model.safetensors');
    write('model.safetensors.index.json', {
      metadata: { total_size: 1 },
      weight_map: { b: 'model-2.safetensors', a: 'model-1.safetensors', c: 'model-2.safetensors' },
    });
    write('model-1.safetensors', '');
    write('model-2.safetensors', '');
    write('pytorch_model.bin', '');
    expect(readTextClassifier(directory).source).toMatchObject({
      weightFiles: [
        path.join(directory, 'model-1.safetensors'),
        path.join(directory, 'model-2.safetensors'),
      ],
    });
  });

  it('finds shards of pytorch_model.bin', () => {
    remove('model.safetensors');
    const index = 'pytorch_model.bin.index.json';
    write(index, { weight_map: { a: 'pytorch_model-1.bin', b: 'pytorch_model-2.bin' } });
    write('pytorch_model-1.bin', '');
    expect(problem()).toBe(`pytorch_model-2.bin: not found, although ${index} lists it`);
    write('pytorch_model-2.bin', '');
    expect(readTextClassifier(directory).source).toMatchObject({
      weightFiles: [
        path.join(directory, 'pytorch_model-1.bin'),
        path.join(directory, 'pytorch_model-2.bin'),
      ],
    });
    write(index, { weight_map: { a: 'model.safetensors' } });
    expect(problem()).toMatch(/expected the name of a \.bin file beside it/);
  });

  it.each([
    [{ model_type: 'bert', max_position_embeddings: 512 }, { positionLimit: 512 }],
    [
      { model_type: 'roberta', max_position_embeddings: 514, pad_token_id: 1 },
      { positionLimit: 512, paddingId: 1 },
    ],
    [
      { model_type: 'my-own', architectures: ['MyOwn'], pad_token_id: -1 },
      { positionLimit: Number.MAX_SAFE_INTEGER },
    ],
  ])('takes a TorchScript file last, of any model type: %j', (changes, positions) => {
    write('config.json', { ...CONFIG, ...changes });
    write('model.pt', '');
    remove('model.safetensors');
    expect(readTextClassifier(directory).source).toEqual({
      type: 'text-program',
      ofTokens: false,
      path: path.join(directory, 'model.pt'),
      numLabels: 2,
      ...positions,
      tokenizerDirectory: directory,
    });
  });

  it('takes what torch.export saved before a TorchScript file', () => {
    write('model.pt', '');
    write('model.pt2', '');
    expect(readTextClassifier(directory).source).toMatchObject({ type: 'text-encoder' });
    remove('model.safetensors');
    expect(readTextClassifier(directory).source).toMatchObject({
      type: 'text-program',
      ofTokens: false,
      path: path.join(directory, 'model.pt2'),
    });
  });

  it('falls back to pytorch_model.bin', () => {
    remove('model.safetensors');
    write('pytorch_model.bin', '');
    write('model.pt', '');
    expect(readTextClassifier(directory).source).toMatchObject({
      weightFiles: [path.join(directory, 'pytorch_model.bin')],
    });
  });

  it.each([
    [
      { architectures: ['BertForMaskedLM'] },
      'config.json: architectures: expected a model for sequence classification, ' +
        'found BertForMaskedLM',
    ],
    [
      { id2label: { 0: 'a' }, problem_type: 'single_label_classification' },
      'config.json: problem_type: single_label_classification needs at least 2 labels, found 1',
    ],
  ])('refuses %j', (changes, line) => {
    write('config.json', { ...CONFIG, ...changes });
    expect(problem()).toBe(line);
  });

  it.each([
    [{ model_type: undefined }, /^config\.json: model_type: /],
    [{ id2label: { 0: 5 } }, /^config\.json: id2label\.0: /],
    [{ id2label: { positive: 'a' } }, /^config\.json: id2label\.positive: /],
    [{ id2label: {} }, /^config\.json: id2label: /],
    [{ problem_type: 'ranking' }, /^config\.json: problem_type: .*"regression"/],
    [{ id2label: null, num_labels: 0 }, /^config\.json: num_labels: /],
  ])('names the key in %j', (changes, pattern) => {
    write('config.json', { ...CONFIG, ...changes });
    expect(problem()).toMatch(pattern);
  });

  it('says what is missing', () => {
    remove('model.safetensors');
    expect(problem()).toBe(
      'model.safetensors: not found, nor model.safetensors.index.json, nor pytorch_model.bin, ' +
        'nor pytorch_model.bin.index.json, nor model.pt2, nor model.pt',
    );
    remove('config.json');
    expect(problem()).toBe(`config.json: not found in ${directory}`);
    rmSync(directory, { recursive: true });
    expect(problem()).toBe(`${directory}: expected a model directory, found none`);
    mkdirSync(directory);
  });

  it('says what is no JSON', () => {
    write('config.json', '{"model_type": bert}');
    expect(problem()).toMatch(/^config\.json: .*JSON/);
  });

  it.each([
    ['../other/model.safetensors', /weight_map: expected the name of a \.safetensors file/],
    ['/etc/model.safetensors', /weight_map: expected the name of a \.safetensors file/],
    ['weights.bin', /weight_map: expected the name of a \.safetensors file/],
    ['absent.safetensors', /^absent\.safetensors: not found, although /],
  ])('refuses the shard %s', (shard, pattern) => {
    remove('model.safetensors');
    write('model.safetensors.index.json', { weight_map: { a: shard } });
    expect(problem()).toMatch(pattern);
  });

  it('refuses an index without weights', () => {
    remove('model.safetensors');
    write('model.safetensors.index.json', { weight_map: {} });
    expect(problem()).toBe('model.safetensors.index.json: weight_map: names no weights');
    write('model.safetensors.index.json', {});
    expect(problem()).toMatch(/^model\.safetensors\.index\.json: weight_map: /);
  });
});

describe('labelNames', () => {
  it('fills what is not named', () => {
    expect(labelNames({ 1: 'b' }, 3)).toEqual(['LABEL_0', 'b', 'LABEL_2']);
    expect(labelNames(null, 1)).toEqual(['LABEL_0']);
  });

  it.each([
    ['config.json', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 'is nested deeper than 64 levels'],
    ['config.json', `[${'0,'.repeat(1_000_000)}0]`, 'has 1000001 values, expected at most 1000000'],
    ['config.json', ' '.repeat(2 ** 24 + 1), 'has 16777217 bytes, expected at most 16777216'],
    [
      'config.json',
      JSON.stringify({ ...CONFIG, x: Array(10_000).fill(0) }),
      'has more than 10000 entries',
    ],
  ])('refuses a %s that is out of all bounds', (name, content, why) => {
    write(name, content);
    expect(problem()).toBe(`${name}: ${why}`);
  });

  it('counts no brackets and commas of texts', () => {
    write('config.json', { ...CONFIG, name: '[{",\\"'.repeat(1000) });
    expect(problem()).toBe('none');
  });

  it('looks at every file that the tokenizers read', () => {
    const sources = readdirSync(RUST, { recursive: true, encoding: 'utf8' });
    const names = sources
      .filter((source) => source.endsWith('.rs') && !source.includes('test'))
      .flatMap((source) => readFileSync(path.join(RUST, source), 'utf8').match(FILE_NAMES) ?? [])
      .map((quoted) => quoted.slice(1, -1));
    expect(new Set(names).size).toBeGreaterThan(9);
    for (const name of new Set(names)) {
      rmSync(path.join(directory, name), { force: true });
      symlinkSync('/etc/passwd', path.join(directory, name));
      expect(problem()).toMatch(
        new RegExp(`^${name}: is a link to a file outside the model folder`),
      );
      rmSync(path.join(directory, name));
      if (name === 'config.json') write(name, CONFIG);
    }
  });

  it('refuses weights that no memory holds', () => {
    truncateSync(path.join(directory, 'model.safetensors'), 2 ** 42);
    expect(problem()).toMatch(
      /^model\.safetensors: holds 4398\.0 GB of weights, but the memory limit of this process is \d+\.\d GB$/,
    );
  });
});
