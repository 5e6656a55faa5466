import { ExpectedError } from '../../native/engine-error';
import type { ModelRepository } from '../../repository/model-repository';
import { ServiceError } from '../../serving/errors';
import type { RepositoryEntry, VersionedRepository } from '../../tasks/model-repository';
import type { NamedModel, VersionState } from '../../tasks/served-model';

const STATES: Readonly<Record<VersionState, RepositoryEntry['state']>> = {
  loading: 'LOADING',
  ready: 'READY',
  failed: 'UNAVAILABLE',
  unloading: 'UNLOADING',
};

/** The repository as protocols have it. */
export function repositoryApi(repository: ModelRepository): VersionedRepository {
  return {
    index: async () => {
      const { catalogue } = repository;
      const names = await withServiceErrors(repository.listFolders());
      const others = names.filter((name) => !catalogue.some((model) => model.name === name));
      const unloaded = others.map((name) => ({
        name,
        version: '',
        state: STATES.failed,
        reason: '',
      }));
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
  return versions.map((one) => ({
    name,
    version: one.version,
    state: STATES[one.state],
    reason: one.reason ?? '',
  }));
}

/** What is wrong is told to who asked. */
async function withServiceErrors<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ExpectedError) throw new ServiceError('REQUEST_INVALID', error.message);
    throw error;
  }
}
