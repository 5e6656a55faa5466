import type { BatchCommandName } from '../../settings/command-line';
import { embedding } from '../../tasks/embedding/embedding-task';
import { reranking } from '../../tasks/registry';
import { tokenClassification } from '../../tasks/token-classification/token-classification-task';
import { CLASSIFY } from '../classify/classify-command';
import type { BatchCommand } from './batch-command';
import { taskCommand } from './task-command';

/** What is asked of the rows of files, by the word after `libtorch-serve`. */
export const BATCH_COMMANDS: Readonly<Record<BatchCommandName, BatchCommand>> = {
  classify: CLASSIFY,
  embed: taskCommand('embed', embedding, [
    'Texts to vectors, as SentenceTransformer.encode makes them: into a column `embedding` of JSONL, CSV',
    'or Parquet, or as .npy, one array of float32.',
  ]),
  rerank: taskCommand('rerank', reranking, [
    'How well a document answers a query, as CrossEncoder.predict says it: a column `score`.',
  ]),
  tag: taskCommand('tag', tokenClassification, [
    'Spans of texts and their labels, as the token-classification pipeline of transformers has them: a',
    'column `tags`, a list of objects; in tables it is JSON.',
  ]),
};
