import { rerankingOver } from './reranking/task';
import { signalClassification } from './signal-classification/task';
import type { Task } from './task';
import { textClassification } from './text-classification/task';
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
  reranking,
  zeroShot,
];
