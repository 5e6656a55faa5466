import { ServiceError } from './errors';

/** Why requests should not be sent here; null: they should. */
export type Readiness = () => ServiceError | null;

/**
 * A model that is loaded is warm: the engine has run it before the port was opened. `describeProblem`:
 * what is wrong with it since, or null.
 */
export function readinessOf(
  { loaded, reason }: { readonly loaded: boolean; readonly reason: string | null },
  isLeaving: () => boolean,
  describeProblem: () => string | null,
): Readiness {
  return () => {
    if (isLeaving()) return new ServiceError('DRAINING', 'The service is shutting down.');
    if (!loaded) return new ServiceError('NOT_READY', `Model is not loaded: ${reason}`);
    const problem = describeProblem();
    return problem === null ? null : new ServiceError('NOT_READY', problem);
  };
}
