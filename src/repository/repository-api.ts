import { ExpectedError } from '../native/engine-error';
import { ServiceError } from '../serving/errors';
import type { RepositoryEntry, VersionedRepository } from '../tasks/model-repository';
import type { NamedModel, VersionState } from '../tasks/served-model';
import type { ModelRepository } from './model-repository';

const STATES: Readonly<Record<VersionState, RepositoryEntry['state']>> = {
  loading: 'LOADING',
  ready: 'READY',
  failed: 'UNAVAILABLE',
  unloading: 'UNLOADING',
};

/** Operations of a model repository for the protocols; expected errors become a ServiceError. */
export function repositoryApi(repository: ModelRepository): VersionedRepository {
  return {
    index: async () => {
      const { catalogue } = repository;
      const names = await withServiceErrors(repository.listFolders());
      const unloaded = names
        .filter((name) => !catalogue.some((model) => model.name === name))
        .map((name) => ({ name, version: '', state: STATES.failed, reason: '' }));
      return [...catalogue.flatMap(entriesOf), ...unloaded].sort((a, b) =>
        a.name < b.name ? -1 : 1,
      );
    },
    load: (name) => withServiceErrors(repository.load(name)),
    unload: (name) => withServiceErrors(repository.unload(name)),
    unloadVersion: (name, version) => withServiceErrors(repository.unloadVersion(name, version)),
    setDefault: (name, version) => withServiceErrors(repository.setDefault(name, version)),
  };
}

function entriesOf({ name, versions, reason }: NamedModel): readonly RepositoryEntry[] {
  if (versions.length === 0)
    return [{ name, version: '', state: 'UNAVAILABLE', reason: reason ?? '' }];
  return versions.map(({ version, state, reason }) => ({
    name,
    version,
    state: STATES[state],
    reason: reason ?? '',
  }));
}

async function withServiceErrors<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ExpectedError) throw new ServiceError('REQUEST_INVALID', error.message);
    throw error;
  }
}
