import { gliclass } from './decision/gliclass-task';
import { laya } from './decision/laya-task';
import { embedding } from './embedding/embedding-task';
import { entityRecognition } from './entity-recognition/entity-recognition-task';
import { gliner2, gliner2Classification } from './gliner2/gliner2-task';
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
 * All tasks. The order decides which task loads a model folder that declares no task, and which model serves
 * the routes at the root.
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
  entityRecognition,
  laya,
  gliclass,
  gliner2,
  gliner2Classification,
];

/** A task and the path of a model that it can load. */
export type TaskMatch = readonly [task: Task, modelPath: string];

/** Matches of a model folder, declared tasks first. @throws ModelFileError */
export function matchTasks(folder: string): readonly TaskMatch[] {
  return declaredFirst(
    TASKS.flatMap((task) =>
      task.findModelPaths(folder).map((modelPath) => [task, modelPath] as const),
    ),
  );
}

/** Moves declared tasks to the front, and keeps the order otherwise. */
export function declaredFirst(matches: readonly TaskMatch[]): readonly TaskMatch[] {
  const declared = matches.filter(([task, modelPath]) => isDeclaredFor(task, modelPath));
  return [...new Set([...declared, ...matches])];
}

/** Unreadable files declare no task. The error is reported when the model is loaded. */
function isDeclaredFor(task: Task, modelPath: string): boolean {
  try {
    return task.isDeclaredFor?.(modelPath) ?? false;
  } catch {
    return false;
  }
}
