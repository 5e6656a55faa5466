import type { ModelMetadata, Prediction } from '../../../tasks/capabilities';
import type { Task } from '../../../tasks/task';
import { embeddingRows } from './embedding-rows';
import { entityRows } from './entity-rows';
import { multiEmbeddingRows } from './multi-embedding-rows';
import { rerankingRows } from './reranking-rows';
import type { TaskRows } from './rows';
import { signalRows } from './signal-rows';
import { textClassificationRows } from './text-classification-rows';
import { tokenClassificationRows } from './token-classification-rows';

type AnyRows = TaskRows<unknown, Prediction, ModelMetadata>;

/** Rows of the tasks with a batch command, by task name. */
const ROWS: Readonly<Record<string, AnyRows>> = {
  embedding: embeddingRows,
  'entity-recognition': entityRows,
  gliner2: entityRows,
  'multi-embedding': multiEmbeddingRows,
  reranking: rerankingRows,
  'signal-classification': signalRows,
  'text-classification': textClassificationRows,
  'token-classification': tokenClassificationRows,
};

export function rowsOf({ name }: Task): AnyRows {
  return ROWS[name] as AnyRows;
}
