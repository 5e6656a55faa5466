import type { Catalogue, NamedModel } from '../../../tasks/catalogue';
import { TASKS } from '../../../tasks/registry';
import { oncePerModel, type Served } from '../../../tasks/served';
import type { Task } from '../../../tasks/task';
import { type SharedModel, TaskModel } from '../../../tasks/task-model';

interface SharedServed extends Omit<Served, 'task' | 'model'> {
  readonly task: Task['name'];
  readonly model: SharedModel | null;
}

/** A catalogue as it goes to other threads. */
export type SharedCatalogue = readonly (Omit<NamedModel, 'versions'> & {
  readonly versions: readonly (Omit<NamedModel['versions'][number], 'served'> & {
    readonly served: SharedServed | null;
  })[];
})[];

/** For `Attachments` of other threads. */
export function shareCatalogue(catalogue: Catalogue): SharedCatalogue {
  return catalogue.map((model) => ({
    ...model,
    versions: model.versions.map((one) => ({ ...one, served: one.served && share(one.served) })),
  }));
}

/** Its number is how others know it. */
const share = oncePerModel(
  (served): SharedServed => ({
    ...served,
    task: served.task.name,
    model: served.model?.share() ?? null,
  }),
);

/** The models that this thread uses, which another one has loaded. */
export class Attachments {
  readonly #attached = new Map<string, Served>();

  /** What can be asked here. Models that are not in it any more are given back by `leaveOthers`. */
  attach(shared: SharedCatalogue): Catalogue {
    return shared.map((model) => ({
      ...model,
      versions: model.versions.map((one) => ({
        ...one,
        served: one.served && this.#attach(one.served),
      })),
    }));
  }

  /** Resolves when what this thread had asked them is answered. */
  async leaveOthers(catalogue: Catalogue): Promise<void> {
    const kept = new Set(catalogue.flatMap(({ versions }) => versions.map(({ served }) => served)));
    const gone = [...this.#attached].filter(([, served]) => !kept.has(served));
    for (const [key] of gone) this.#attached.delete(key);
    await Promise.all(gone.map(([, { model }]) => model?.close()));
  }

  #attach(shared: SharedServed): Served {
    const key = `${shared.name} ${shared.version} ${shared.model?.engine}`;
    const known = this.#attached.get(key);
    if (known) return known;
    const task = TASKS.find(({ name }) => name === shared.task) as Task;
    const model = shared.model && TaskModel.attach(task, shared.model);
    const served = { ...shared, task, model };
    this.#attached.set(key, served);
    return served;
  }
}
