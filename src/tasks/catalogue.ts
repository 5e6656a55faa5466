import type { ServedModel } from './served-model';

export type VersionState = 'loading' | 'ready' | 'failed' | 'unloading';

/** A version of a model. */
export interface ModelVersion {
  readonly version: string;
  readonly state: VersionState;
  /** Why it is not as its files are now, for clients: they could not be loaded; null: it is. */
  readonly reason: string | null;
  /** What answers; a failed one may still have what was loaded before. */
  readonly served: ServedModel | null;
}

/** A folder of the directory of models. */
export interface NamedModel {
  readonly name: string;
  /** Other names that it answers to. */
  readonly aliases: readonly string[];
  readonly isDefault: boolean;
  readonly isRequired: boolean;
  /** That is to answer where none is named, as long as it can; null: the highest. */
  readonly defaultVersion: string | null;
  /** Ascending; empty where the folder itself cannot be read. */
  readonly versions: readonly ModelVersion[];
  /** Why no version is known; null: some are. */
  readonly reason: string | null;
}

/** All models as they are at a moment, by name. */
export type Catalogue = readonly NamedModel[];

/** How many names an error lists. */
const MAX_LISTED = 20;

/** By its name or another one of its. */
export function findModel(catalogue: Catalogue, name: string): NamedModel | undefined {
  return catalogue.find((model) => model.name === name || model.aliases.includes(name));
}

/** For errors. */
export function listNames(names: readonly string[]): string {
  const left = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join(', ') + (left > 0 ? ` and ${left} more` : '');
}

/** The version that answers where none is named: the one that is to, else the highest that can. */
export function currentVersion({ versions, defaultVersion }: NamedModel): ModelVersion | null {
  const able = versions.filter(({ served }) => served?.model);
  return able.find(({ version }) => version === defaultVersion) ?? able.at(-1) ?? null;
}

/** Why it cannot be asked. */
export function unavailableReason({ versions, reason }: NamedModel): string | null {
  return reason ?? versions.findLast(({ reason }) => reason !== null)?.reason ?? null;
}

/** The one model of a service, under the one version that it has. */
export function singleModelCatalogue(served: ServedModel): Catalogue {
  const { name, model, reason } = served;
  const version: ModelVersion = { version: '1', state: model ? 'ready' : 'failed', reason, served };
  return [
    {
      name,
      aliases: [],
      isDefault: true,
      isRequired: true,
      defaultVersion: null,
      versions: [version],
      reason: null,
    },
  ];
}
