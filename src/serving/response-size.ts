import { ServiceError } from './errors';

/** Bytes of a float32 in a response, at most: as JSON with the fewest digits, or with those of its double. */
export const FLOAT_JSON_BYTES = 12;
export const DOUBLE_JSON_BYTES = 22;
export const FLOAT_BYTES = 4;
/** Of a number beside a label in JSON, with what stands around both. */
export const SCORE_JSON_BYTES = 32;

/**
 * To be called before the model runs: what is asked for is known by its shape.
 *
 * @throws ServiceError RESPONSE_TOO_LARGE
 */
export function requireResponseSize(bytes: number, limit: number): void {
  if (bytes > limit) throw responseTooLarge(Math.ceil(bytes), limit);
}

export function responseTooLarge(bytes: number, limit: number): ServiceError {
  return new ServiceError(
    'RESPONSE_TOO_LARGE',
    `The response would have at least ${bytes} bytes, over the limit of ${limit} (RESPONSE_LIMIT). Ask for fewer or shorter inputs at once.`,
  );
}

const sizes = new WeakMap<readonly string[], number>();

/** Bytes of a score with each of the labels, in JSON. */
export function scoresBytes(labels: readonly string[]): number {
  const known = sizes.get(labels);
  if (known !== undefined) return known;
  const bytes = labels.reduce((sum, label) => sum + label.length + SCORE_JSON_BYTES, 0);
  sizes.set(labels, bytes);
  return bytes;
}
