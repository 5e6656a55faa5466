/** What is measured of encoders beside other servers: what is asked, of whom, and how answers are compared. */
import path from 'node:path';
import { BUILD } from '../paths.mjs';
import { compareFindings, compareScores, compareTags, compareVectors } from './answers.mjs';
import { documents, guarded, lists, longTexts, sentences, textsOfTokens } from './loads.mjs';

export const FIELD_BUILD = path.join(BUILD, 'field');

/** The model of each service, the same files for all servers. */
export const modelOf = (service) => path.join(FIELD_BUILD, FIELD[service].model);

const PAIRS = (names) => names.flatMap((name) => [name, `${name}-int8`]);
/** text-embeddings-inference, whose binary is given by --tei. */
export const TEI = 'tei';
const FASTAPI = ['fastapi', 'fastapi-tuned'];

/**
 * Of each service its path; its model; its peers, `-int8` of which are in 8 bits; and its loads: bodies of requests,
 * numbers of clients, and how many answers are compared; of one that answers before its models are there, what says so.
 */
export const FIELD = {
  embedding: {
    route: '/embed',
    model: 'models/embedder',
    peers: [...FASTAPI, ...PAIRS(['node-ort', 'openvino', 'fastembed', 'llama-cpp']), TEI],
    loads: () => [
      { load: 'sentence', bodies: sentences(2000), clients: [1, 8, 64], compared: 200 },
      { load: 'list of 32', bodies: lists(64, 32), clients: [1, 8], compared: 10 },
      { load: '250 tokens', bodies: longTexts(64, 250), clients: [1, 8], compared: 20 },
    ],
    compare: compareVectors,
  },
  'decoder-embedding': {
    route: '/embed',
    model: 'decoder-embedder',
    peers: ['fastapi', ...PAIRS(['llama-cpp'])],
    loads: () => [
      { load: 'sentence', bodies: sentences(200), clients: [1, 8, 64], compared: 10 },
      { load: 'list of 32', bodies: lists(8, 32), clients: [1], compared: 1 },
      { load: '500 tokens', bodies: longTexts(16, 500), clients: [1, 4], compared: 4 },
    ],
    compare: compareVectors,
  },
  reranking: {
    route: '/rerank',
    model: 'models/reranker',
    peers: [...FASTAPI, ...PAIRS(['node-ort', 'openvino', 'fastembed']), TEI],
    loads: () => [
      { load: '100 documents', bodies: documents(8, 100), clients: [1, 4], compared: 2 },
    ],
    compare: compareScores,
  },
  tagging: {
    route: '/tag',
    model: 'models/tagger',
    peers: [...FASTAPI, ...PAIRS(['node-ort', 'openvino'])],
    loads: () => [
      { load: '128 tokens', bodies: textsOfTokens(64, 128), clients: [1, 8], compared: 20 },
      { load: '512 tokens', bodies: textsOfTokens(64, 512), clients: [1, 4], compared: 5 },
    ],
    compare: compareTags,
  },
  guard: {
    route: '/guard',
    model: 'guard',
    peers: [...FASTAPI, ...PAIRS(['openvino'])],
    loads: () => [
      { load: '128 tokens', bodies: guarded(64, 128), clients: [1, 16], compared: 5 },
      { load: '512 tokens', bodies: guarded(64, 512), clients: [1, 4], compared: 2 },
    ],
    compare: compareFindings,
    // A guard answers before its models are loaded, and says so.
    isWhole: (body) => !JSON.parse(body).errors?.length,
  },
};

/** The models of the guard, with what each of them is. */
export const GUARD_MODELS = {
  injection: 'classifying',
  toxicity: 'classifying',
  intent: 'classifying',
  names: 'tagging',
};
