import { embedding } from './embedding/embedding-task';
import { rerankingOver } from './reranking/reranking-task';
import { signalClassification } from './signal-classification/signal-classification-task';
import { sparseEmbedding } from './sparse-embedding/sparse-embedding-task';
import type { Task } from './task';
import { textClassification } from './text-classification/text-classification-task';
import { tokenClassification } from './token-classification/token-classification-task';
import { tokenEmbedding } from './token-embedding/token-embedding-task';
import { zeroShotOver } from './zero-shot/zero-shot-task';

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

/** A task, and a place that it takes for a model of its own. */
export type Claim = readonly [task: Task, place: string];

/** Of a folder by all tasks, those first for whose task the place is marked. @throws ModelFileError */
export function claimsOn(folder: string): readonly Claim[] {
  return markedFirst(
    TASKS.flatMap((task) => task.findIn(folder).map((one) => [task, one] as const)),
  );
}

/** Otherwise in the order that they have. */
export function markedFirst(claims: readonly Claim[]): readonly Claim[] {
  const marked = claims.filter(([task, place]) => isMarked(task, place));
  return [...new Set([...marked, ...claims])];
}

/** Whether a model is marked as one of this task. What cannot be read as such is not; who reads it says why. */
function isMarked(task: Task, place: string): boolean {
  try {
    return task.isDeclaredFor?.(place) ?? false;
  } catch {
    return false;
  }
}
