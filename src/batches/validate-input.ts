import { TimeSlice } from '../lib/time-slice';
import { isProblem, parseRequest } from './batch-request';
import { readLines } from './read-lines';
import type { BatchProblem } from './records';

/** Maximum number of problems of a batch; validation stops after them. */
const MAX_PROBLEMS = 100;

export interface InputLimits {
  /** Maximum number of lines. */
  readonly maxLines: number;
  /** Maximum length of a line in bytes. */
  readonly maxLineBytes: number;
}

/**
 * Validates the lines of an input file before any of them runs.
 *
 * @param isStopped whether to stop early
 * @returns number of requests, and the problems; the file is valid without problems
 */
export async function validateInput(
  file: string,
  endpoint: string,
  { maxLines, maxLineBytes }: InputLimits,
  isStopped: () => boolean,
): Promise<{ readonly total: number; readonly problems: readonly BatchProblem[] }> {
  const problems: BatchProblem[] = [];
  const lineOf = new Map<string, number>();
  const slice = new TimeSlice();
  let total = 0;
  for await (const line of readLines(file, maxLineBytes)) {
    if (++total > maxLines) {
      const message = `The file has more than ${maxLines} requests (MAX_FILE_LINES). Split the file.`;
      return { total, problems: [...problems, ofFile('too_many_requests', message)] };
    }
    const parsed = parseRequest(line, endpoint, maxLineBytes);
    if (isProblem(parsed)) problems.push(parsed);
    else {
      const first = lineOf.get(parsed.customId);
      if (first === undefined) lineOf.set(parsed.customId, line.number);
      else {
        const message = `custom_id: the same as in line ${first}. Use a different ID for each line`;
        const { number } = line;
        problems.push({ code: 'duplicate_custom_id', message, param: 'custom_id', line: number });
      }
    }
    if (problems.length >= MAX_PROBLEMS || isStopped()) return { total, problems };
    if (slice.isExpired) await slice.yieldToEventLoop();
  }
  if (total === 0) return { total, problems: [ofFile('empty_file', 'The file has no requests.')] };
  return { total, problems };
}

function ofFile(code: string, message: string): BatchProblem {
  return { code, message, param: null, line: null };
}
