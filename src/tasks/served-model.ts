import type { Stored } from '../models/store';
import type { Capabilities, Capability, ClassifierMetadata } from './capabilities';
import { reranking } from './registry';
import { readAsReranker } from './reranking/cross-encoder';
import type { Task } from './task';
import type { TaskModel } from './task-model';
import { textClassification } from './text-classification/text-classification-task';

/** A model as protocols are given it. */
export type ServedModel<Model = TaskModel> = Stored<Task, Model>;

/** What is made of a model when it is first asked for, and the same from then on. */
export function memoizeByModel<Made>(
  make: (served: ServedModel) => Made,
): (served: ServedModel) => Made {
  const known = new WeakMap<ServedModel, { readonly made: Made }>();
  return (served) => {
    const before = known.get(served);
    if (before) return before.made;
    const made = make(served);
    known.set(served, { made });
    return made;
  };
}

/** The model with an ability; null: it does not have it. */
export function withCapability<Name extends Capability>(
  served: ServedModel,
  ability: Name,
): ServedModel<Capabilities[Name]> | null {
  const able = isPrimaryCapability(served, ability)
    ? served
    : ability === 'reranking' && classifierAsReranker(served);
  return able ? (able as ServedModel<unknown> as ServedModel<Capabilities[Name]>) : null;
}

/** Whether the task of the model gives it the ability: another one is an addition. */
export function isPrimaryCapability({ task }: ServedModel, ability: Capability): boolean {
  return task.capabilities.includes(ability);
}

/** A classifier of one label that also ranks; null: it does not. */
const classifierAsReranker = memoizeByModel(({ task, model, ...served }): ServedModel | null => {
  if (task !== textClassification || !model) return null;
  const metadata = readAsReranker(model.metadata as ClassifierMetadata);
  return (
    metadata && {
      ...served,
      task: reranking,
      model: model.withTask(reranking, metadata) as TaskModel,
    }
  );
});
