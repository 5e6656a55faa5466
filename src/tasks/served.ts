import type { Stored } from '../models/store';
import type { Abilities, Ability } from './abilities';
import type { Task } from './task';
import type { TaskModel } from './task-model';

/** A model as protocols are given it. */
export type Served<Model = TaskModel> = Stored<Task, Model>;

/** The same as what it is asked for; null: models of its task cannot do this. */
export function servedAs<Name extends Ability>(
  served: Served,
  ability: Name,
): Served<Abilities[Name]> | null {
  if (!served.task.abilities.includes(ability)) return null;
  return served as Served<unknown> as Served<Abilities[Name]>;
}

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
