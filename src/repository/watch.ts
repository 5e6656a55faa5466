import type { ModelRepository } from './model-repository';

/** Interval of polls, in ms. A change is loaded when the next poll finds no further change. */
const POLL_INTERVAL_MS = 1000;

/** The methods of a pino logger that are used here. */
interface WatchLog {
  info(metadata: object, message: string): void;
  error(message: string): void;
}

/** Stamp of each model folder, by name; undefined: the folder is missing. */
type Stamps = Readonly<Record<string, string | undefined>>;

/**
 * Reloads model folders that change. Polls, since network volumes send no change events.
 *
 * @param loaded stamps from before the models were loaded
 */
export function watchModelFolders(
  repository: ModelRepository,
  loaded: Stamps,
  log: WatchLog,
): NodeJS.Timeout {
  let current: Stamps = loaded;
  let previous: Stamps = loaded;
  const check = async (): Promise<void> => {
    const now: Stamps = await repository.folderStamps();
    for (const name of new Set([...Object.keys(now), ...Object.keys(current)])) {
      if (now[name] !== previous[name] || now[name] === current[name]) continue;
      current = { ...current, [name]: now[name] };
      log.info({ model: name }, 'model folder changed');
      repository.load(name).catch(() => undefined); // The repository logs load errors.
    }
    previous = now;
  };
  return poll(check, log);
}

/** Reloads the guardrail policy when its file changes. @param loaded stamp from before the policy was loaded */
export function watchGuardPolicy(
  repository: ModelRepository,
  loaded: string,
  { log, reloadGuard }: { readonly log: WatchLog; reloadGuard(): Promise<void> },
): NodeJS.Timeout {
  let current = loaded;
  let previous = loaded;
  const check = async (): Promise<void> => {
    const now = await repository.guardPolicyStamp();
    if (now === previous && now !== current) {
      current = now;
      log.info({}, 'guardrail policy changed');
      await reloadGuard();
    }
    previous = now;
  };
  return poll(check, log);
}

function poll(check: () => Promise<void>, log: WatchLog): NodeJS.Timeout {
  let isRunning = false;
  let problem: string | null = null;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    check()
      .then(
        () => {
          problem = null;
        },
        // Logs the same problem only once.
        ({ message }: Error) => {
          if (message !== problem) log.error(message);
          problem = message;
        },
      )
      .finally(() => {
        isRunning = false;
      });
  }, POLL_INTERVAL_MS);
  return timer.unref();
}
