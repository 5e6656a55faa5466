import type { ModelRepository } from './repository';

/** How often folders are looked at; what has changed is loaded when it has been quiet for as long. */
const PERIOD_MS = 1000;

/** As pino has it. */
interface WatchLog {
  info(about: object, message: string): void;
  error(message: string): void;
}

/** By name; undefined: there is no such folder. */
type Stamps = Readonly<Record<string, string | undefined>>;

/**
 * Loads again what changes in the directory. Files are looked at, not watched: volumes of a network tell of
 * nothing.
 *
 * @param loaded what `repository.stamps` said before the models were loaded
 */
export function watchFolders(
  repository: ModelRepository,
  loaded: Stamps,
  log: WatchLog,
): NodeJS.Timeout {
  let known: Stamps = loaded;
  let before: Stamps = loaded;
  let isLooking = false;
  const look = async (): Promise<void> => {
    const now: Stamps = await repository.stamps();
    for (const name of new Set([...Object.keys(now), ...Object.keys(known)])) {
      if (now[name] !== before[name] || now[name] === known[name]) continue;
      known = { ...known, [name]: now[name] };
      log.info({ model: name }, 'its folder has changed');
      repository.load(name).catch(() => undefined); // it has been logged
    }
    before = now;
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: Error) => log.error(error.message))
      .finally(() => {
        isLooking = false;
      });
  }, PERIOD_MS);
  return timer.unref();
}
