/** What is measured of encoders beside other servers: what is asked, of whom, and how answers are compared. */
import path from 'node:path';
import { BUILD } from '../paths.mjs';
import { compareScores, compareTags, compareVectors } from './answers.mjs';
import { documents, lists, sentences, textsOfTokens } from './loads.mjs';

export const FIELD_BUILD = path.join(BUILD, 'field');

/** The model of each service, the same files for all servers. */
export const modelOf = (service) => path.join(FIELD_BUILD, 'models', FIELD[service].model);

const PAIRS = (names) => names.flatMap((name) => [name, `${name}-int8`]);
const FASTAPI = ['fastapi', 'fastapi-tuned'];

/**
 * Of each service its path; its model; its peers, `-int8` of which are in 8 bits; and its loads: bodies of requests,
 * numbers of clients, and how many answers are compared.
 */
export const FIELD = {
  embedding: {
    route: '/embed',
    model: 'embedder',
    peers: [...FASTAPI, ...PAIRS(['node-ort', 'openvino', 'fastembed'])],
    loads: () => [
      { load: 'sentence', bodies: sentences(2000), clients: [1, 8, 64], compared: 200 },
      { load: 'list of 32', bodies: lists(64, 32), clients: [1, 8], compared: 10 },
    ],
    compare: compareVectors,
  },
  reranking: {
    route: '/rerank',
    model: 'reranker',
    peers: [...FASTAPI, ...PAIRS(['node-ort', 'openvino', 'fastembed'])],
    loads: () => [
      { load: '100 documents', bodies: documents(8, 100), clients: [1, 4], compared: 2 },
    ],
    compare: compareScores,
  },
  tagging: {
    route: '/tag',
    model: 'tagger',
    peers: [...FASTAPI, ...PAIRS(['node-ort', 'openvino'])],
    loads: () => [
      { load: '128 tokens', bodies: textsOfTokens(64, 128), clients: [1, 8], compared: 20 },
      { load: '512 tokens', bodies: textsOfTokens(64, 512), clients: [1, 4], compared: 5 },
    ],
    compare: compareTags,
  },
};
