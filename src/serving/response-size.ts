import { ServiceError } from './errors';

/** Maximum bytes of a float32 in a response: shortest JSON form, JSON of its double, binary. */
export const FLOAT_JSON_BYTES = 12;
export const DOUBLE_JSON_BYTES = 22;
export const FLOAT_BYTES = 4;
/** Bytes of a score with punctuation in JSON, without its label. */
export const SCORE_JSON_BYTES = 32;

/**
 * Checks the size of a response before the model runs.
 *
 * @param bytes size, computed from the shape of the request
 * @throws ServiceError RESPONSE_TOO_LARGE
 */
export function requireResponseSize(bytes: number, limit: number): void {
  if (bytes > limit) throw responseTooLarge(Math.ceil(bytes), limit);
}

export function responseTooLarge(bytes: number, limit: number): ServiceError {
  return new ServiceError(
    'RESPONSE_TOO_LARGE',
    `The response would have at least ${bytes} bytes, over the limit of ${limit} (RESPONSE_LIMIT). Send fewer or shorter inputs per request.`,
  );
}

const sizes = new WeakMap<readonly string[], number>();

/** Maximum bytes of the scores of all labels in JSON. Cached per list of labels. */
export function scoresBytes(labels: readonly string[]): number {
  const known = sizes.get(labels);
  if (known !== undefined) return known;
  const bytes = labels.reduce((sum, label) => sum + label.length + SCORE_JSON_BYTES, 0);
  sizes.set(labels, bytes);
  return bytes;
}
