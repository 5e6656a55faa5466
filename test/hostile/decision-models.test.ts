/** Files of Laya, GLiClass and GLiNER2 that must not load: each is an error that names the file and the key. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gliclass } from '../../src/tasks/decision/gliclass-task';
import { laya } from '../../src/tasks/decision/laya-task';
import { gliner2, gliner2Classification } from '../../src/tasks/gliner2/gliner2-task';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import { Folder } from '../helpers/files';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';
import { deep, editJson, type Json, replace } from './case';

type Case = readonly [name: string, make: (folder: string) => void, error: RegExp];

const folder = new Folder();
let count = 0;

afterAll(() => folder.remove());

async function loadDamaged(task: Task, base: string, make: Case[1]): Promise<void> {
  const copy = path.join(folder.path, `${count++}`);
  cpSync(path.join(FIXTURES, base), copy, { recursive: true });
  make(copy);
  const model = await TaskModel.load(task, copy, SCHEDULING);
  await model.close();
}

const remove = (file: string) => (target: string) => rmSync(path.join(target, file));

/** Changes the header of a safetensors file; the data stays as it is. */
function editHeader(edit: (header: Json) => void) {
  return (target: string): void => {
    const file = path.join(target, 'model.safetensors');
    const content = readFileSync(file);
    const length = Number(content.readBigUInt64LE());
    const header: Json = JSON.parse(content.toString('utf8', 8, 8 + length));
    edit(header);
    const text = Buffer.from(JSON.stringify(header));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(text.length));
    writeFileSync(file, Buffer.concat([size, text, content.subarray(8 + length)]));
  };
}

const rename = (from: string, to: string) =>
  editHeader((header) => {
    header[to] = header[from];
    delete header[from];
  });

const reshape = (name: string, shape: readonly number[]) =>
  editHeader((header) => {
    header[name].shape = shape;
  });

const LAYA = 'rl_agent_config.json';
const TOKENIZER = 'tokenizer/tokenizer_config.json';
const set = (file: string, values: object) =>
  editJson(file, (content) => void Object.assign(content, values));

const LAYA_CASES: readonly Case[] = [
  ['no JSON', replace(LAYA, '{'), /^rl_agent_config\.json: is not JSON/],
  ['a list', replace(LAYA, '[]'), /^rl_agent_config\.json: /],
  [
    'deep nesting',
    replace(LAYA, `{"head_layers":${deep(10_000)}}`),
    /^rl_agent_config\.json: is nested deeper/,
  ],
  [
    'no head_layers',
    editJson(LAYA, (c) => void delete c.head_layers),
    /^rl_agent_config\.json: head_layers: /,
  ],
  ['negative head_layers', set(LAYA, { head_layers: -1 }), /^rl_agent_config\.json: head_layers: /],
  [
    'a billion head_layers',
    set(LAYA, { head_layers: 1e9 }),
    /^rl_agent_config\.json: head_layers: /,
  ],
  [
    'one more head_layer than weights',
    set(LAYA, { head_layers: 2 }),
    /^model\.safetensors: head\.layers\.1\./,
  ],
  [
    'one head_layer less than weights',
    set(LAYA, { head_layers: 0 }),
    /^model\.safetensors: head\.layers\.0\..*: unexpected/,
  ],
  [
    'a max_len beyond the positions',
    set(LAYA, { max_len: 4000 }),
    /^rl_agent_config\.json: max_len: expected at most 128, .* received 4000$/,
  ],
  ['a max_len of 0', set(LAYA, { max_len: 0 }), /^rl_agent_config\.json: max_len: /],
  [
    'a fraction as head_max_len',
    set(LAYA, { head_max_len: 1.5 }),
    /^rl_agent_config\.json: head_max_len: /,
  ],
  ['two temperatures', set(LAYA, { temperature: [1, 1] }), /^rl_agent_config\.json: temperature: /],
  [
    'a temperature that is no list',
    set(LAYA, { temperature: 1 }),
    /^rl_agent_config\.json: temperature: /,
  ],
  [
    'temperatures by options that are a list',
    set(LAYA, { temperature_by_options: [1] }),
    /^rl_agent_config\.json: temperature_by_options: /,
  ],
  [
    'the parallel layout',
    set(LAYA, { option_layout: 'parallel' }),
    /^rl_agent_config\.json: option_layout: expected "sequential", received "parallel"\. Models with options at the same positions are not supported$/,
  ],
  ['no encoder', remove('encoder/config.json'), /^encoder\/config\.json: not found/],
  [
    'an encoder without model_type',
    editJson('encoder/config.json', (c) => void delete c.model_type),
    /^encoder\/config\.json: model_type: /,
  ],
  [
    'an unknown encoder',
    set('encoder/config.json', { model_type: 'other' }),
    /^encoder\/config\.json: model_type: "other" is not supported/,
  ],
  [
    'an encoder of another size',
    set('encoder/config.json', { hidden_size: 64 }),
    /^model\.safetensors: encoder\./,
  ],
  ['no weights', remove('model.safetensors'), /^model\.safetensors: not found$/],
  ['no tokenizer settings', remove(TOKENIZER), /^tokenizer\/tokenizer_config\.json: not found/],
  [
    'no mask token',
    editJson(TOKENIZER, (c) => void delete c.mask_token),
    /^tokenizer\/tokenizer_config\.json: mask_token: expected the text of the token$/,
  ],
  [
    'an empty mask token',
    set(TOKENIZER, { mask_token: '' }),
    /^tokenizer\/tokenizer_config\.json: mask_token: /,
  ],
  [
    'type embeddings of another shape',
    reshape('type_emb.weight', [4, 96]),
    /^model\.safetensors: type_emb\.weight: /,
  ],
  [
    'a scorer of another shape',
    reshape('scorer.1.weight', [64, 256]),
    /^model\.safetensors: scorer\.1\.weight: /,
  ],
  [
    'no scorer',
    rename('scorer.3.weight', 'scorer.4.weight'),
    /^model\.safetensors: scorer\.3\.weight: is missing/,
  ],
  [
    'a projection of another shape',
    reshape('head.layers.0.self_attn.in_proj_weight', [128, 384]),
    /^model\.safetensors: head\.layers\.0\.self_attn\.in_proj_weight: /,
  ],
];

const CONFIG = 'config.json';

const GLICLASS_CASES: readonly Case[] = [
  [
    'no encoder_config',
    editJson(CONFIG, (c) => void delete c.encoder_config),
    /^config\.json: encoder_config: /,
  ],
  [
    'a list as encoder_config',
    set(CONFIG, { encoder_config: [] }),
    /^config\.json: encoder_config: /,
  ],
  [
    'a bi-encoder',
    set(CONFIG, { architecture_type: 'bi-encoder' }),
    /^config\.json: architecture_type: expected "uni-encoder", received "bi-encoder"\./,
  ],
  [
    'segment embeddings',
    set(CONFIG, { use_segment_embeddings: true }),
    /^config\.json: use_segment_embeddings: /,
  ],
  ['squeezed layers', set(CONFIG, { squeeze_layers: true }), /^config\.json: squeeze_layers: /],
  [
    'an inner layer of the encoder',
    set(CONFIG, { encoder_layer_id: 1 }),
    /^config\.json: encoder_layer_id: /,
  ],
  ['a calibrator', set(CONFIG, { use_calibrator: true }), /^config\.json: use_calibrator: /],
  ['an unknown scorer', set(CONFIG, { scorer_type: 'other' }), /^config\.json: scorer_type: /],
  [
    'an unknown pooling',
    set(CONFIG, { pooling_strategy: 'other' }),
    /^config\.json: pooling_strategy: /,
  ],
  [
    'no pooling',
    set(CONFIG, { pooling_strategy: 'pass' }),
    /^config\.json: pooling_strategy: expected "pass" exactly for the scorer_type "cross-attn"/,
  ],
  [
    'cross-attention to a pooled text',
    set(CONFIG, { scorer_type: 'cross-attn' }),
    /^config\.json: pooling_strategy: expected "pass"/,
  ],
  [
    'an unknown activation',
    set(CONFIG, { projector_hidden_act: 'other' }),
    /^config\.json: projector_hidden_act: "other" is not supported/,
  ],
  [
    'another size of the projections',
    set(CONFIG, { hidden_size: 64 }),
    /^(config\.json: hidden_size|model\.safetensors: model\.)/,
  ],
  ['a huge size', set(CONFIG, { hidden_size: 1e9 }), /^config\.json: hidden_size: /],
  [
    'weights of another scorer',
    set(CONFIG, { scorer_type: 'weighted-dot' }),
    /^model\.safetensors: model\.scorer\./,
  ],
  [
    'a scorer that the configuration lacks',
    set(CONFIG, { scorer_type: 'simple' }),
    /^model\.safetensors: model\.scorer\..*: unexpected/,
  ],
  [
    'an LSTM without weights',
    set(CONFIG, { use_lstm: true }),
    /^model\.safetensors: model\.lstm\.lstm\./,
  ],
  [
    'another ID of the label token',
    set(CONFIG, { class_token_index: 7 }),
    /^the token <<LABEL>> has the id \d+ in the tokenizer, and 7 in the configuration/,
  ],
  [
    'an ID beyond the vocabulary',
    set(CONFIG, { text_token_index: 1e9 }),
    /^config\.json: text_token_index: /,
  ],
  [
    'a larger vocabulary',
    set(CONFIG, { vocab_size: 1e6 }),
    /^model\.safetensors: model\.encoder_model\./,
  ],
  [
    'projections of another shape',
    reshape('model.text_projector.linear_1.weight', [16, 64]),
    /^model\.safetensors: model\.text_projector\.linear_1\.weight: /,
  ],
  [
    'no projections of labels',
    rename('model.classes_projector.linear_2.bias', 'model.other'),
    /^model\.safetensors: model\.classes_projector\.linear_2\.bias: is missing/,
  ],
  [
    'no marker in the tokenizer',
    editJson('tokenizer.json', (c) => {
      c.added_tokens = c.added_tokens.filter(({ content }: Json) => content !== '<<SEP>>');
    }),
    /<<SEP>>/,
  ],
];

const GLINER2_CASES: readonly Case[] = [
  [
    'an unknown architecture',
    set(CONFIG, { architecture: 'other' }),
    /^config\.json: architecture: /,
  ],
  [
    'weights of another architecture',
    set(CONFIG, { architecture: 'boundary' }),
    /^model\.safetensors: classifier\.3\./,
  ],
  [
    'an unknown counting layer',
    set(CONFIG, { counting_layer: 'other' }),
    /^config\.json: counting_layer: /,
  ],
  [
    'weights of another counting layer',
    set(CONFIG, { counting_layer: 'count_lstm_moe' }),
    /^model\.safetensors: count_embed\./,
  ],
  [
    'the mean of the tokens of a word',
    set(CONFIG, { token_pooling: 'mean' }),
    /^config\.json: token_pooling: expected "first", received "mean"/,
  ],
  [
    'a width of 0',
    set(CONFIG, { span_head: { max_width: 0 } }),
    /^config\.json: span_head\.max_width: /,
  ],
  ['no encoder', remove('encoder_config/config.json'), /^encoder_config\/config\.json: not found/],
  [
    'an encoder without model_type',
    editJson('encoder_config/config.json', (c) => void delete c.model_type),
    /^encoder_config\/config\.json: model_type: /,
  ],
  [
    'an encoder with unsupported settings',
    set('encoder_config/config.json', { quantization_config: { bits: 4 } }),
    /^encoder_config\/config\.json: quantization_config: /,
  ],
  [
    'an encoder without width',
    set('encoder_config/config.json', { hidden_size: 0 }),
    /^encoder_config\/config\.json: hidden_size: /,
  ],
  [
    'an unknown encoder',
    set('encoder_config/config.json', { model_type: 'other' }),
    /^encoder_config\/config\.json: model_type: /,
  ],
  ['no weights', remove('model.safetensors'), /^model\.safetensors: not found$/],
  [
    'a classifier of another shape',
    reshape('classifier.0.weight', [32, 64]),
    /^model\.safetensors: classifier\.0\.weight: /,
  ],
  [
    'a GRU of another shape',
    reshape('count_embed.gru.weight_hh_l0', [32, 96]),
    /^model\.safetensors: count_embed\.gru\.weight_hh_l0: /,
  ],
  [
    'no marker in the tokenizer',
    (target) => {
      editJson('tokenizer.json', (c) => {
        c.added_tokens = c.added_tokens.filter(({ content }: Json) => content !== '[SEP_TEXT]');
      })(target);
      set('tokenizer_config.json', { extra_special_tokens: [] })(target);
    },
    /^the tokenizer has no token \[SEP_TEXT\]/,
  ],
];

const BOUNDARY_CASES: readonly Case[] = [
  [
    'a temperature of 0',
    set(CONFIG, { boundary_head: { classification_temperature: 0 } }),
    /^config\.json: boundary_head\.classification_temperature: /,
  ],
  [
    'dropout that the weights contradict',
    set(CONFIG, { boundary_head: { dropout: 0.1 } }),
    /^model\.safetensors: classifier\.3\./,
  ],
  [
    'weights of an unknown module',
    rename('boundary_head.count_head.bias', 'other.bias'),
    /^model\.safetensors: other\.bias: unexpected/,
  ],
];

it.each(LAYA_CASES)('Laya: %s', async (_, make, error) => {
  await expect(loadDamaged(laya as unknown as Task, 'laya/english', make)).rejects.toThrow(error);
});

it.each(GLICLASS_CASES)('GLiClass: %s', async (_, make, error) => {
  const load = loadDamaged(gliclass as unknown as Task, 'gliclass/bert-mlp', make);
  await expect(load).rejects.toThrow(error);
});

it.each(GLINER2_CASES)('GLiNER2: %s', async (_, make, error) => {
  const load = loadDamaged(gliner2 as unknown as Task, 'gliner2/deberta-lstm', make);
  await expect(load).rejects.toThrow(error);
});

it.each(BOUNDARY_CASES)('GLiNER2, boundary: %s', async (_, make, error) => {
  const task = gliner2Classification as unknown as Task;
  await expect(loadDamaged(task, 'gliner2/bert-boundary', make)).rejects.toThrow(error);
});

it('loads the files that are not damaged', async () => {
  mkdirSync(folder.path, { recursive: true });
  await loadDamaged(laya as unknown as Task, 'laya/english', () => {});
  await loadDamaged(gliclass as unknown as Task, 'gliclass/bert-mlp', () => {});
});
