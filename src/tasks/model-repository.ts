/** Loading and unloading while the process runs. */
export interface Repository {
  /** Every model that there is, loaded or not. */
  index(): Promise<readonly RepositoryEntry[]>;
  /** Resolves when it serves. @throws ServiceError: it cannot be loaded, and why */
  load(name: string): Promise<void>;
  /** Resolves when what it had accepted is answered. @throws ServiceError: it is not loaded */
  unload(name: string): Promise<void>;
}

/** The same, of single versions as well. */
export interface VersionedRepository extends Repository {
  /** Resolves when what it had accepted is answered. @throws ServiceError: it is not loaded */
  unloadVersion(name: string, version: string): Promise<void>;
  /** From now on it answers where no version is named. @throws ServiceError: it is not loaded */
  setDefault(name: string, version: string): Promise<void>;
}

export interface RepositoryEntry {
  readonly name: string;
  /** Empty: none is known. */
  readonly version: string;
  readonly state: 'LOADING' | 'READY' | 'UNAVAILABLE' | 'UNLOADING';
  /** Why it is not ready; empty: it is, or nobody has asked for it. */
  readonly reason: string;
}

/**
 * @param onlyReady as clients ask for it
 * @param access of whoever asks
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
