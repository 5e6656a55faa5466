import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { post, request } from '../helpers/http';
import { editSafetensors } from '../helpers/safetensors';
import { FIXTURES, killAll, ROOT, startService } from '../helpers/service';
import { expectError, SERVICE_CASES, type ServiceCase } from '../helpers/services';

const [SENTIMENT, EEG] = SERVICE_CASES as readonly [ServiceCase, ServiceCase];

/** The embedding of words: [420, 32] in this fixture. */
const TENSOR = 'bert.embeddings.word_embeddings.weight';

let temporary: string;
let model: string;

beforeEach(() => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'load-failure-'));
  model = path.join(temporary, 'model');
});

afterEach(() => rmSync(temporary, { recursive: true }));
afterAll(killAll);

/** Starts the service; it must serve, without its model, and say why in one line that matches. */
async function expectNotLoaded(
  { name, path: endpoint, body }: ServiceCase,
  env: Readonly<Record<string, string>>,
  why: RegExp,
): Promise<void> {
  const service = await startService(name, { env });
  const health = await request(service, { path: '/health' });
  expect([health.status, health.text]).toEqual([200, '{"status":"healthy","model_loaded":false}']);
  expectError(await post(service, endpoint, body), 500, 'Model is not loaded.');
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(service.stderr).toBe('');
  // The load failure, and the request that met it.
  const errors = service.logs.filter(({ level }) => level === 'error' || level === 'fatal');
  expect(errors).toHaveLength(2);
  expect(errors[0]?.msg).toMatch(why);
  expect(errors[0]?.msg).not.toMatch(/\n| at /);
}

const inModel = (name: string): string => path.join(model, name);

function editConfig(edit: (config: Record<string, unknown>) => void): void {
  const config = JSON.parse(readFileSync(inModel('config.json'), 'utf8'));
  edit(config);
  writeFileSync(inModel('config.json'), JSON.stringify(config));
}

const WEIGHTS = 'model.safetensors';

describe('the sentiment service', () => {
  it.each<[string, () => void, RegExp]>([
    ['no model directory', () => rmSync(model, { recursive: true }), /expected a model directory/],
    ['no config.json', () => rmSync(inModel('config.json')), /config\.json: not found/],
    [
      'a config.json that is no JSON',
      () => writeFileSync(inModel('config.json'), '{"model_type":'),
      /config\.json: .*JSON/,
    ],
    [
      'a config.json without a key',
      () => editConfig((config) => delete config.hidden_size),
      /config\.json: hidden_size: /,
    ],
    [
      'a config.json with a key of the wrong type',
      () => editConfig((config) => Object.assign(config, { num_hidden_layers: 'two' })),
      /config\.json: num_hidden_layers: /,
    ],
    [
      'a model type that is not supported',
      () => editConfig((config) => Object.assign(config, { model_type: 'gpt2' })),
      /config\.json: model_type: "gpt2" is not supported \(albert, bert, /,
    ],
    [
      'an activation that is not supported',
      () => editConfig((config) => Object.assign(config, { hidden_act: 'wobble' })),
      /config\.json: hidden_act: .*wobble/,
    ],
    ['no weights', () => rmSync(inModel(WEIGHTS)), /model\.safetensors: not found, nor .*, nor /],
    [
      'weights that end too early',
      () => truncateSync(inModel(WEIGHTS), 5000),
      /model\.safetensors: /,
    ],
    ['weights without a byte', () => truncateSync(inModel(WEIGHTS), 0), /model\.safetensors: /],
    [
      'weights that are something else',
      () => writeFileSync(inModel(WEIGHTS), 'version https://git-lfs.github.com/spec/v1\n'),
      /model\.safetensors: /,
    ],
    [
      'a header larger than the file',
      () => writeFileSync(inModel(WEIGHTS), Buffer.alloc(64, 0x7f)),
      /model\.safetensors: /,
    ],
    [
      'a tensor that is missing',
      () =>
        editSafetensors(inModel(WEIGHTS), (header) => {
          header.other = header[TENSOR] as (typeof header)[string];
          delete header[TENSOR];
        }),
      /model\.safetensors: .*bert\.embeddings\.word_embeddings\.weight/,
    ],
    [
      'a tensor that nobody expects',
      () =>
        editSafetensors(inModel(WEIGHTS), (header) => {
          header['bert.extra.weight'] = { dtype: 'F32', shape: [0], data_offsets: [0, 0] };
        }),
      /model\.safetensors: .*bert\.extra\.weight/,
    ],
    [
      'a tensor of the wrong shape',
      () =>
        editSafetensors(inModel(WEIGHTS), (header) => {
          header[TENSOR]?.shape.reverse();
        }),
      /model\.safetensors: bert\.embeddings\.word_embeddings\.weight: .*\[32, 420\].*\[420, 32\]|model\.safetensors: bert\.embeddings\.word_embeddings\.weight: .*\[420, 32\].*\[32, 420\]/,
    ],
    [
      'fewer labels than the head has outputs',
      () => editConfig((config) => Object.assign(config, { id2label: { 0: 'a', 1: 'b' } })),
      /model\.safetensors: classifier\.(weight|bias): /,
    ],
    [
      'no tokenizer',
      () => {
        rmSync(inModel('tokenizer.json'));
        rmSync(inModel('vocab.txt'), { force: true });
      },
      /tokenizer\.json|vocab\.txt/,
    ],
    [
      'a tokenizer that is no tokenizer',
      () => writeFileSync(inModel('tokenizer.json'), '{"version": "1.0"}'),
      /tokenizer\.json: /,
    ],
    [
      'weights and a tokenizer that are neither',
      () => {
        truncateSync(inModel(WEIGHTS), 5000);
        writeFileSync(inModel('tokenizer.json'), '{"version": "1.0"}');
      },
      /model\.safetensors: /,
    ],
    [
      'a pytorch_model.bin that is no archive',
      () => {
        rmSync(inModel(WEIGHTS));
        writeFileSync(inModel('pytorch_model.bin'), 'no archive');
      },
      /pytorch_model\.bin: /,
    ],
  ])('with %s serves as not loaded, and says why', async (_name, damage, why) => {
    cpSync(path.join(FIXTURES, 'models', 'bert-single-label'), model, { recursive: true });
    damage();
    await expectNotLoaded(SENTIMENT, { SENTIMENT_MODEL_DIR: model }, why);
  });

  it.each([
    ['runs-code', /pytorch_model\.bin: /],
    ['varied-legacy', /pytorch_model\.bin: bert\.embeddings.* are missing; the file has .*column/],
    ['training-checkpoint', /pytorch_model\.bin: /],
    ['list', /pytorch_model\.bin: /],
  ])('with a pytorch_model.bin that is a %s serves as not loaded', async (archive, why) => {
    cpSync(path.join(FIXTURES, 'models', 'bert-single-label'), model, { recursive: true });
    rmSync(inModel(WEIGHTS));
    const weights = path.join(FIXTURES, 'archives', `${archive}.bin`);
    copyFileSync(weights, inModel('pytorch_model.bin'));
    await expectNotLoaded(SENTIMENT, { SENTIMENT_MODEL_DIR: model }, why);
    // What a careless reader of pickles would have made.
    expect(existsSync(path.join(ROOT, 'malicious-pickle-ran'))).toBe(false);
  });

  it.each([
    [
      'one-length',
      /model\.pt: fails for a text of \d+ tokens: .*; it works for 6 tokens: a traced/,
    ],
    [
      'four-arguments',
      /model\.pt: takes 4 inputs \(.*\), expected input_ids, attention_mask and token_/,
    ],
    [
      'three-labels',
      /model\.pt: .*the model returned 3 numbers for 1 text\(s\), expected 2 for each/,
    ],
    ['reads-file', /model\.pt: forward\(\) uses aten::from_file/],
  ])('with a TorchScript text model of %s serves as not loaded', async (name, why) => {
    cpSync(path.join(FIXTURES, 'models', 'torchscript-dict'), model, { recursive: true });
    copyFileSync(path.join(FIXTURES, 'torchscript-texts', `${name}.pt`), inModel('model.pt'));
    await expectNotLoaded(SENTIMENT, { SENTIMENT_MODEL_DIR: model }, why);
  });

  it('with a TorchScript text model that never ends serves as not loaded', async () => {
    cpSync(path.join(FIXTURES, 'models', 'torchscript-dict'), model, { recursive: true });
    copyFileSync(path.join(FIXTURES, 'torchscript-texts', 'endless.pt'), inModel('model.pt'));
    const env = { SENTIMENT_MODEL_DIR: model, INFERENCE_TIMEOUT_MS: '1000' };
    const why = /model\.pt: forward\(\) did not end within 1000 ms in the load-time check/;
    await expectNotLoaded(SENTIMENT, env, why);
  });

  it('with a TorchScript text model of no known maximum length serves as not loaded', async () => {
    cpSync(path.join(FIXTURES, 'models', 'torchscript-one-at-a-time'), model, { recursive: true });
    editConfig((config) => delete config.max_position_embeddings);
    const why = /tokenizer_config\.json: model_max_length: expected the number of tokens/;
    await expectNotLoaded(SENTIMENT, { SENTIMENT_MODEL_DIR: model }, why);
  });

  it('with an ALBERT of empty groups serves as not loaded', async () => {
    cpSync(path.join(FIXTURES, 'models', 'albert-one-shared-layer'), model, { recursive: true });
    editConfig((config) => Object.assign(config, { inner_group_num: 0 }));
    const why = /config\.json: inner_group_num: expected 1 or more, received 0/;
    await expectNotLoaded(SENTIMENT, { SENTIMENT_MODEL_DIR: model }, why);
  });

  it('with a shard missing serves as not loaded, and says which', async () => {
    cpSync(path.join(FIXTURES, 'models', 'roberta-vocab-json-sharded'), model, { recursive: true });
    rmSync(inModel('model-00002-of-00002.safetensors'));
    const why = /model-00002-of-00002\.safetensors: not found/;
    await expectNotLoaded(SENTIMENT, { SENTIMENT_MODEL_DIR: model }, why);
  });
});

describe('the EEG service', () => {
  it.each<[string, (file: string) => void, RegExp]>([
    ['no file', () => undefined, /eeg_model\.pt: .*(not found|No such file)/i],
    [
      'a directory',
      (file) => cpSync(path.join(FIXTURES, 'eeg'), file, { recursive: true }),
      /eeg_model\.pt: /,
    ],
    ['an empty file', (file) => writeFileSync(file, ''), /eeg_model\.pt: /],
    ['no archive', (file) => copyEeg('not-an-archive', file), /eeg_model\.pt: /],
    [
      'half an archive',
      (file) => {
        copyEeg('plain-cnn-scripted', file);
        truncateSync(file, 4000);
      },
      /eeg_model\.pt: /,
    ],
    ['code that runs while it is loaded', (file) => copyEeg('setstate', file), /__setstate__/],
    ['an operator that reads files', (file) => copyEeg('reads-file', file), /from_file/],
    ['one in a fork', (file) => copyEeg('reads-file-in-fork', file), /from_file/],
    ['one behind an interface', (file) => copyEeg('reads-file-in-part', file), /from_file/],
    [
      'a pickled state_dict',
      (file) =>
        copyFileSync(
          path.join(FIXTURES, 'models', 'bert-no-labels-old-keys-bin', 'pytorch_model.bin'),
          file,
        ),
      /eeg_model\.pt: /,
    ],
  ])('with %s serves as not loaded, and says why', async (_name, make, why) => {
    const file = path.join(temporary, 'eeg_model.pt');
    make(file);
    await expectNotLoaded(EEG, { EEG_MODEL_PATH: file }, why);
  });

  it.each([
    [
      'tuple-output',
      'eeg_model.pt: the model returns a tuple with 2 tensors (0: [1, 3], 1: [1, 12]), expected one tensor',
    ],
    [
      'dict-of-two',
      'eeg_model.pt: the model returns a dict with 2 tensors (logits: [1, 3], window: [1, 1, 256]), expected one tensor',
    ],
    ['tuple-with-state', 'a tuple with 3 tensors (0: [1, 3], 1.0: [1, 1, 256], 1.1: [1, 1, 256])'],
  ])('with a model that returns several tensors (%s) says which', async (model, why) => {
    const file = path.join(temporary, 'eeg_model.pt');
    copyEeg(model, file);
    await expectNotLoaded(EEG, { EEG_MODEL_PATH: file }, containing(why));
  });

  it.each([
    ['{"output":', 'eeg_model.json: is not JSON: '],
    ['[]', 'eeg_model.json: expected an object'],
    ['{"clases": ["a", "b"]}', 'eeg_model.json: clases: unknown key, expected one of name, '],
    ['{"output": "softmax"}', 'eeg_model.json: output: expected "logits" or "probabilities"'],
    [
      '{"classes": ["a", "b", "c", "d", "e"]}',
      'eeg_model.json: classes: names 5 classes, but eeg_model.pt gives 3 numbers for a window of 256 samples',
    ],
    [
      '{"output": "probabilities"}',
      'eeg_model.json: output: is "probabilities", but eeg_model.pt gives values outside of 0 to 1, such as ',
    ],
  ])('with an eeg_model.json of %s serves as not loaded, and says why', async (content, why) => {
    const file = path.join(temporary, 'eeg_model.pt');
    copyEeg('plain-cnn-scripted', file);
    writeFileSync(path.join(temporary, 'eeg_model.json'), content);
    await expectNotLoaded(EEG, { EEG_MODEL_PATH: file }, containing(why));
  });

  it('with a window length that the model does not take says what the model said', async () => {
    const file = path.join(temporary, 'mine.pt');
    copyEeg('short-windows', file);
    const settings = { classes: ['a', 'b', 'c', 'd'], window_length: 101 };
    writeFileSync(path.join(temporary, 'mine.json'), JSON.stringify(settings));
    const why = 'mine.json: window_length: mine.pt cannot run a window of 101 samples: ';
    await expectNotLoaded(EEG, { EEG_MODEL_PATH: file }, containing(why));
  });

  it('with an eeg_model.json that cannot be read says so', async () => {
    const file = path.join(temporary, 'eeg_model.pt');
    copyEeg('plain-cnn-scripted', file);
    symlinkSync('nowhere.json', path.join(temporary, 'eeg_model.json'));
    const why = 'eeg_model.json: cannot be read: ENOENT';
    await expectNotLoaded(EEG, { EEG_MODEL_PATH: file }, containing(why));
  });

  it('looks for eeg_model.pt in its working directory', async () => {
    copyEeg('plain-cnn-scripted', path.join(temporary, 'eeg_model.pt'));
    const service = await startService('eeg', { cwd: temporary });
    expect((await post(service, EEG.path, EEG.body)).status).toBe(200);
    await service.stop();
  });
});

function containing(text: string): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
}

function copyEeg(name: string, file: string): void {
  copyFileSync(path.join(FIXTURES, 'eeg', `${name}.pt`), file);
}
