import { embedding } from './embedding/embedding-task';
import { createRerankingTask } from './reranking/reranking-task';
import { signalClassification } from './signal-classification/signal-classification-task';
import { sparseEmbedding } from './sparse-embedding/sparse-embedding-task';
import type { Task } from './task';
import { textClassification } from './text-classification/text-classification-task';
import { tokenClassification } from './token-classification/token-classification-task';
import { tokenEmbedding } from './token-embedding/token-embedding-task';
import { createZeroShotTask } from './zero-shot/zero-shot-task';

export const reranking = createRerankingTask(textClassification);
export const zeroShot = createZeroShotTask(textClassification);

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
export type TaskMatch = readonly [task: Task, place: string];

/** Of a folder by all tasks, those first for whose task the place is marked. @throws ModelFileError */
export function matchTasks(folder: string): readonly TaskMatch[] {
  return declaredFirst(
    TASKS.flatMap((task) => task.findModelPaths(folder).map((one) => [task, one] as const)),
  );
}

/** Otherwise in the order that they have. */
export function declaredFirst(claims: readonly TaskMatch[]): readonly TaskMatch[] {
  const marked = claims.filter(([task, place]) => isDeclaredFor(task, place));
  return [...new Set([...marked, ...claims])];
}

/** Whether a model is marked as one of this task. What cannot be read as such is not; who reads it says why. */
function isDeclaredFor(task: Task, place: string): boolean {
  try {
    return task.isDeclaredFor?.(place) ?? false;
  } catch {
    return false;
  }
}
