import { ServiceError } from './errors';

/** Readiness of the service: the error of the readiness probe, or null if the service is ready. */
export type Readiness = () => ServiceError | null;

/** @param problem why the models are not ready; null: they are */
export function readinessOf(isLeaving: () => boolean, problem: () => string | null): Readiness {
  return () => {
    if (isLeaving()) return new ServiceError('DRAINING', 'The service is shutting down.');
    const message = problem();
    return message === null ? null : new ServiceError('NOT_READY', message);
  };
}
