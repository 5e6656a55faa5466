import { ERRORS, type ErrorCode, type ServiceError } from '../serving/errors';

/** How an error is told to a client: each protocol has a form of its own. */
export interface ErrorShape {
  readonly status: (code: ErrorCode) => number;
  readonly body: (error: ServiceError) => object;
}

/** That of the services' own routes. */
export const DETAIL: ErrorShape = {
  status: (code) => ERRORS[code].http,
  body: ({ message }) => ({ detail: message }),
};
