import { type BatchRequest, isProblem, parseRequest } from './batch-request';
import { type Line, readLines } from './read-lines';
import type { BatchProblem } from './records';

/** Limits of a chunk. A request that exceeds a limit is a chunk of its own. */
export interface ChunkLimits {
  readonly maxRequests: number;
  /** Total length of the lines in bytes. */
  readonly maxBytes: number;
  /** Total number of inputs, which limits the memory of the results: a few bytes of input can be a whole embedding. */
  readonly maxInputs: number;
}

/** Requests that run at the same time. */
export interface Chunk {
  readonly requests: readonly BatchRequest[];
  /** Number of requests of the file up to the end of this chunk. */
  readonly end: number;
}

/** A problem that ends a batch during its run. */
export class BatchError extends Error {
  override readonly name = 'BatchError';
  readonly problem: BatchProblem;

  constructor(problem: BatchProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Input file of a batch. */
export interface ChunkSource {
  readonly file: string;
  readonly endpoint: string;
  readonly maxLineBytes: number;
  /** Number of first requests to skip. */
  readonly skipped: number;
}

/** Reads the requests of an input file in chunks. @throws BatchError: the input file was changed after its validation */
export async function* readRequestChunks(
  { file, endpoint, maxLineBytes, skipped }: ChunkSource,
  { maxRequests, maxBytes, maxInputs }: ChunkLimits,
): AsyncGenerator<Chunk> {
  let requests: BatchRequest[] = [];
  let [bytes, inputs, end] = [0, 0, 0];
  for await (const line of readLines(file, maxLineBytes)) {
    if (end < skipped) {
      end++;
      continue;
    }
    const request = parseValid(line, endpoint, maxLineBytes);
    const lineBytes = line.bytes?.length ?? 0;
    const lineInputs = countInputs(request.body);
    const isFull =
      requests.length === maxRequests ||
      bytes + lineBytes > maxBytes ||
      inputs + lineInputs > maxInputs;
    if (requests.length > 0 && isFull) {
      yield { requests, end };
      [requests, bytes, inputs] = [[], 0, 0];
    }
    requests.push(request);
    bytes += lineBytes;
    inputs += lineInputs;
    end++;
  }
  if (requests.length > 0) yield { requests, end };
}

function parseValid(line: Line, endpoint: string, maxLineBytes: number): BatchRequest {
  const request = parseRequest(line, endpoint, maxLineBytes);
  if (isProblem(request)) throw new BatchError(request);
  return request;
}

/** Number of texts in the lists of a request body; at least 1. A list of numbers is one text of token IDs. */
function countInputs(body: BatchRequest['body']): number {
  const counts = Object.values(body).map((value) =>
    Array.isArray(value) && typeof value[0] !== 'number' ? value.length : 0,
  );
  return Math.max(1, ...counts);
}
