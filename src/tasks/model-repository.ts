/** Model repository that loads and unloads models at run time. */
export interface Repository {
  /** All models, loaded or not. */
  index(): Promise<readonly RepositoryEntry[]>;
  /** Resolves when the model is ready. @throws ServiceError: load error */
  load(name: string): Promise<void>;
  /** Resolves when all accepted requests are complete. @throws ServiceError: the model is not loaded */
  unload(name: string): Promise<void>;
}

/** Model repository with several versions per model. */
export interface VersionedRepository extends Repository {
  /** Resolves when all accepted requests are complete. @throws ServiceError: the version is not loaded */
  unloadVersion(name: string, version: string): Promise<void>;
  /** Sets the version for requests without a version. @throws ServiceError: the version is not loaded */
  setDefault(name: string, version: string): Promise<void>;
}

export interface RepositoryEntry {
  readonly name: string;
  /** Empty: unknown. */
  readonly version: string;
  readonly state: 'LOADING' | 'READY' | 'UNAVAILABLE' | 'UNLOADING';
  /** Why the model is not ready; empty: it is ready, or loading was never requested. */
  readonly reason: string;
}

/**
 * Lists the models that an API key can access.
 *
 * @param onlyReady omits models that are not ready
 * @param access permissions of the API key
 */
export async function listVisible(
  repository: Repository,
  onlyReady: boolean,
  access: { canSee(name: string): boolean },
): Promise<readonly RepositoryEntry[]> {
  const entries = await repository.index();
  return entries.filter(
    ({ name, state }) => access.canSee(name) && (!onlyReady || state === 'READY'),
  );
}
