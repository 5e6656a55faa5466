import { ANALYSIS_ERRORS } from '../openapi/legacy-operation';

/** What a route of this protocol may answer but 200. */
export const FAILURES = { ...ANALYSIS_ERRORS, 400: 'The deadline is no number of milliseconds.' };
