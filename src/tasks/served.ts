import type { Stored } from '../models/store';
import type { Abilities, Ability, ClassifierAbout } from './abilities';
import { reranking } from './registry';
import { readAsReranker } from './reranking/cross-encoder';
import type { Task } from './task';
import type { TaskModel } from './task-model';
import { textClassification } from './text-classification/text-classification-task';

/** A model as protocols are given it. */
export type Served<Model = TaskModel> = Stored<Task, Model>;

/** What is made of a model when it is first asked for, and the same from then on. */
export function oncePerModel<Made>(make: (served: Served) => Made): (served: Served) => Made {
  const known = new WeakMap<Served, { readonly made: Made }>();
  return (served) => {
    const before = known.get(served);
    if (before) return before.made;
    const made = make(served);
    known.set(served, { made });
    return made;
  };
}

/** The model with an ability; null: it does not have it. */
export function servedAs<Name extends Ability>(
  served: Served,
  ability: Name,
): Served<Abilities[Name]> | null {
  const able = isMadeFor(served, ability)
    ? served
    : ability === 'scores pairs' && asReranker(served);
  return able ? (able as Served<unknown> as Served<Abilities[Name]>) : null;
}

/** Whether the task of the model gives it the ability: another one is an addition. */
export function isMadeFor({ task }: Served, ability: Ability): boolean {
  return task.abilities.includes(ability);
}

/** A classifier of one label that also ranks; null: it does not. */
const asReranker = oncePerModel(({ task, model, ...served }): Served | null => {
  if (task !== textClassification || !model) return null;
  const about = readAsReranker(model.about as ClassifierAbout);
  return about && { ...served, task: reranking, model: model.as(reranking, about) as TaskModel };
});
