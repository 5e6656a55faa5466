import type { ModelRepository } from './model-repository';

/** How often folders are looked at; what has changed is loaded when it has been quiet for as long. */
const POLL_INTERVAL_MS = 1000;

/** As pino has it. */
interface WatchLog {
  info(metadata: object, message: string): void;
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
export function watchModelFolders(
  repository: ModelRepository,
  loaded: Stamps,
  log: WatchLog,
): NodeJS.Timeout {
  let known: Stamps = loaded;
  let before: Stamps = loaded;
  const look = async (): Promise<void> => {
    const now: Stamps = await repository.folderStamps();
    for (const name of new Set([...Object.keys(now), ...Object.keys(known)])) {
      if (now[name] !== before[name] || now[name] === known[name]) continue;
      known = { ...known, [name]: now[name] };
      log.info({ model: name }, 'its folder has changed');
      repository.load(name).catch(() => undefined); // it has been logged
    }
    before = now;
  };
  return poll(look, log);
}

/** The same of the file of a guard. @param stamp of what was loaded */
export function watchGuardPolicy(
  repository: ModelRepository,
  stamp: string,
  { log, readGuard }: { readonly log: WatchLog; readGuard(): Promise<void> },
): NodeJS.Timeout {
  let known = stamp;
  let before = stamp;
  const look = async (): Promise<void> => {
    const now = await repository.guardPolicyStamp();
    if (now === before && now !== known) {
      known = now;
      log.info({}, 'the file of the guard has changed');
      await readGuard();
    }
    before = now;
  };
  return poll(look, log);
}

function poll(look: () => Promise<void>, log: WatchLog): NodeJS.Timeout {
  let isLooking = false;
  let problem: string | null = null;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .then(
        () => {
          problem = null;
        },
        // Each second the same would fill the log.
        ({ message }: Error) => {
          if (message !== problem) log.error(message);
          problem = message;
        },
      )
      .finally(() => {
        isLooking = false;
      });
  }, POLL_INTERVAL_MS);
  return timer.unref();
}
