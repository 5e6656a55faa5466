import type { SchedulingOptions } from '../../native/engine';
import { TaskModel } from '../../tasks/task-model';
import { textClassification } from '../../tasks/text-classification/text-classification-task';
import { printError } from '../exit';
import type { LabeledText } from './labeled-examples';

const TEXTS_PER_REQUEST = 256;

/** Logits of texts, in their order. Long texts are truncated, also if model.json asks for windows. */
export async function logitsOf(
  directory: string,
  texts: readonly LabeledText[],
  scheduling: SchedulingOptions,
): Promise<readonly Float32Array[]> {
  const model = await TaskModel.load(textClassification, directory, scheduling);
  try {
    model.warnings.forEach(printError);
    const logits: Float32Array[] = [];
    for (let first = 0; first < texts.length; first += TEXTS_PER_REQUEST) {
      const inputs = texts
        .slice(first, first + TEXTS_PER_REQUEST)
        .map(({ text, pair }) => ({ text, pair, places: false }));
      for (const { inference } of await model.runAll(inputs, {})) logits.push(inference.values);
    }
    return logits;
  } finally {
    await model.close();
  }
}
