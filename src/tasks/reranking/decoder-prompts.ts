import { field, type PairTemplate } from '../../models/chat/pair-template';
import type { Frame, TextHead } from '../../native/engine';
import type { Activation } from './cross-encoder';

/** How a decoder scores a pair. */
export interface DecoderPrompt {
  readonly template: PairTemplate;
  readonly frame: Frame;
  readonly head: TextHead;
  readonly activation: Activation;
}

const query = field('query');
const document = field('document');

/** Source: model card of Qwen/Qwen3-Reranker-0.6B. */
const QWEN3: DecoderPrompt = {
  template: [
    [
      '<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n<Query>: ',
      query,
      '\n<Document>: ',
      document,
    ],
  ],
  frame: {
    before: [
      '<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct ' +
        'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n',
    ],
    between: [],
    after: ['<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n'],
    maxLength: 8192,
  },
  head: { name: 'logit-score', trueToken: 'yes', falseToken: 'no' },
  activation: 'Sigmoid',
};

/** mxbai-rerank-v2. Source: mxbai-rerank 0.1.6, mxbai_rerank_v2.py. */
const QWEN2: DecoderPrompt = {
  template: [
    ['query: ', query],
    ['document: ', document],
  ],
  frame: {
    before: [
      '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n' +
        '<|im_start|>user\n',
    ],
    between: ['\n'],
    after: [
      '\n',
      'You are a search relevance expert who evaluates how well documents match search queries. For each ' +
        'query-document pair, carefully analyze the semantic relationship between them, then provide your binary ' +
        'relevance judgment (0 for not relevant, 1 for relevant).\nRelevance:',
      '<|im_end|>\n<|im_start|>assistant\n',
    ],
    maxLength: 8192,
    timesBefore: 1,
    timesAfter: 1,
  },
  head: { name: 'logit-score', trueToken: '1', falseToken: '0' },
  activation: 'Identity',
};

/** bge-reranker-v2-gemma. Source: FlagEmbedding 1.4.2, inference/reranker/decoder_only/base.py. */
const GEMMA: DecoderPrompt = {
  template: [
    ['A: ', query],
    ['B: ', document],
  ],
  frame: {
    before: ['<bos>'],
    between: ['\n'],
    after: [
      '\n',
      'Given a query A and a passage B, determine whether the passage contains an answer to the query by providing a ' +
        "prediction of either 'Yes' or 'No'.",
    ],
    maxLength: 512,
    timesAfter: 2,
  },
  head: { name: 'logit-score', trueToken: 'Yes' },
  activation: 'Identity',
};

/** Prompts by model_type, of models whose folders have no settings for reranking. */
export const DECODER_PROMPTS: Readonly<Record<string, DecoderPrompt>> = {
  gemma: GEMMA,
  qwen2: QWEN2,
  qwen3: QWEN3,
};
