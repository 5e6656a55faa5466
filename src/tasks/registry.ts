import { embedding } from './embedding/task';
import { rerankingOver } from './reranking/task';
import { signalClassification } from './signal-classification/task';
import { sparseEmbedding } from './sparse-embedding/task';
import type { Task } from './task';
import { textClassification } from './text-classification/task';
import { tokenClassification } from './token-classification/task';
import { tokenEmbedding } from './token-embedding/task';
import { zeroShotOver } from './zero-shot/task';

export const reranking = rerankingOver(textClassification);
export const zeroShot = zeroShotOver(textClassification);

/**
 * In the order in which they are asked whether a path is a model of theirs, those first for which it is marked;
 * and in which their models answer at the root.
 */
export const TASKS: readonly Task[] = [
  textClassification,
  signalClassification,
  embedding,
  sparseEmbedding,
  tokenEmbedding,
  reranking,
  zeroShot,
  tokenClassification,
];

/** Whether a model is marked as one of this task. What cannot be read as such is not; who reads it says why. */
export function isMarked(task: Task, place: string): boolean {
  try {
    return task.isMarked?.(place) ?? false;
  } catch {
    return false;
  }
}
