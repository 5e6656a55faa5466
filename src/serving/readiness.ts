import { ServiceError } from './errors';

/** Why requests should not be sent here; null: they should. */
export type Readiness = () => ServiceError | null;

/** @param problem with the models, for people; null: there is none */
export function readinessOf(isLeaving: () => boolean, problem: () => string | null): Readiness {
  return () => {
    if (isLeaving()) return new ServiceError('DRAINING', 'The service is shutting down.');
    const message = problem();
    return message === null ? null : new ServiceError('NOT_READY', message);
  };
}
