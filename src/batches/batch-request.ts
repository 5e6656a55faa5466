import { z } from 'zod';
import { ServiceError } from '../serving/errors';
import { parseJson } from '../serving/json';
import type { Line } from './read-lines';
import type { BatchProblem } from './records';

const MAX_CUSTOM_ID_LENGTH = 512;

const CUSTOM_ID = `expected a string of 1 to ${MAX_CUSTOM_ID_LENGTH} characters`;

const schema = z.object({
  custom_id: z.string(CUSTOM_ID).min(1, CUSTOM_ID).max(MAX_CUSTOM_ID_LENGTH, CUSTOM_ID),
  method: z.literal('POST', 'expected "POST"'),
  url: z.string('expected a string'),
  body: z.record(z.string(), z.unknown(), 'expected an object'),
});

/** A request of an input file. */
export interface BatchRequest {
  readonly customId: string;
  /** Parsed JSON, validated by the schema of the endpoint. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Error codes by field. */
const CODES: Readonly<Record<string, string>> = {
  custom_id: 'invalid_custom_id',
  method: 'invalid_method',
  url: 'invalid_url',
  body: 'invalid_body',
};

/**
 * Parses a line of an input file.
 *
 * @param endpoint endpoint of the batch, which all lines must have as `url`
 * @returns the request, or the problem with the line, which quotes no content
 */
export function parseRequest(
  { number, bytes }: Line,
  endpoint: string,
  maxBytes: number,
): BatchRequest | BatchProblem {
  const problem = (code: string, message: string, param: string | null = null): BatchProblem => ({
    code,
    message,
    param,
    line: number,
  });
  if (bytes === null) {
    return problem('line_too_long', `The line exceeds ${maxBytes} bytes (BODY_LIMIT). Split it.`);
  }
  let json: unknown;
  try {
    json = parseJson(bytes);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return problem('invalid_json_line', error.message.replace(/^body: /, 'The line '));
  }
  const { data, error } = schema.safeParse(json);
  if (error) {
    const [{ path, message }] = error.issues as [z.core.$ZodIssue];
    const [field] = path;
    if (field === undefined) {
      return problem('invalid_json_line', 'The line is not a JSON object.');
    }
    const name = String(field);
    return problem(CODES[name] as string, `${name}: ${message}`, name);
  }
  if (data.url !== endpoint) {
    return problem('invalid_url', `url: expected ${endpoint}, the endpoint of the batch`, 'url');
  }
  return { customId: data.custom_id, body: data.body };
}

export function isProblem(parsed: BatchRequest | BatchProblem): parsed is BatchProblem {
  return 'code' in parsed;
}
