import { signalClassification } from './signal-classification/task';
import type { Task } from './task';
import { textClassification } from './text-classification/task';

/** In the order in which they are asked whether a path is a model of theirs. */
export const TASKS: readonly Task[] = [textClassification, signalClassification];
