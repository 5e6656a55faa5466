import type { BatchCommandName } from '../../settings/command-line';
import { embedding } from '../../tasks/embedding/embedding-task';
import { multiEmbedding } from '../../tasks/multi-embedding-views';
import { reranking } from '../../tasks/registry';
import { CLASSIFY } from '../classify/classify-command';
import type { BatchCommand } from './batch-command';
import { DECIDE } from './decide-command';
import { TAG } from './tag-command';
import { taskCommand } from './task-command';

/** Commands for files, by command name. */
export const BATCH_COMMANDS: Readonly<Record<BatchCommandName, BatchCommand>> = {
  classify: CLASSIFY,
  decide: DECIDE,
  embed: taskCommand('embed', embedding, [
    'Computes text embeddings as SentenceTransformer.encode does: a column `embedding` of JSONL, CSV or',
    'Parquet, or one float32 array in a .npy file.',
  ]),
  encode: taskCommand('encode', multiEmbedding, [
    'Computes dense, sparse and ColBERT embeddings of bge-m3 as BGEM3FlagModel.encode does:',
    'columns `dense_vecs`, `lexical_weights` and `colbert_vecs`. CSV and Parquet contain the last two',
    'as JSON.',
  ]),
  rerank: taskCommand('rerank', reranking, [
    'Scores the relevance of a document for a query as CrossEncoder.predict does: a column `score`.',
  ]),
  tag: TAG,
};
