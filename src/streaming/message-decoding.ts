import type { z } from 'zod';
import { describeFirstIssue } from '../protocols/validation/fields';
import { ServiceError } from '../serving/errors';
import { parseJson } from '../serving/json';
import { CLOSE, SessionError } from '../serving/session';

/** Parses a JSON message. @throws SessionError */
export function decodeJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new SessionError(CLOSE.INVALID, error.message.replace(/^body: /, 'message: '));
  }
}

/** Validates a message. @throws SessionError that names the field */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = describeFirstIssue(result.error).replace(/^body: /, 'message: ');
  throw new SessionError(CLOSE.INVALID, issue);
}

/** Decodes samples from a JSON array; null becomes NaN. @throws SessionError that names the element */
export function decodeNumbers(values: readonly unknown[]): Float64Array {
  const samples = new Float64Array(values.length);
  for (let i = 0; i < samples.length; i++) {
    const value = values[i];
    if (typeof value === 'number') samples[i] = value;
    else if (value === null) samples[i] = Number.NaN;
    else throw new SessionError(CLOSE.INVALID, `samples[${i}]: expected a number or null`);
  }
  return samples;
}

/** Decodes samples from little-endian float32. @throws SessionError */
export function decodeFloat32(bytes: Buffer): Float64Array {
  const length = bytes.length / Float32Array.BYTES_PER_ELEMENT;
  if (!Number.isInteger(length)) {
    throw new SessionError(CLOSE.INVALID, 'message: expected float32, a multiple of 4 bytes');
  }
  const samples = new Float64Array(length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < length; i++) samples[i] = view.getFloat32(i * 4, true);
  return samples;
}
