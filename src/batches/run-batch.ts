import { setTimeout as delay } from 'node:timers/promises';
import { Cancellation } from '../native/pending-requests';
import type { Access } from '../serving/access';
import { ServiceError } from '../serving/errors';
import type { Readiness } from '../serving/readiness';
import { BatchOutput } from './batch-output';
import type { BatchStore } from './batch-store';
import type { FileStore } from './file-store';
import type { BatchProblem, BatchRecord, Outcome } from './records';
import { BatchError, readRequestChunks } from './request-chunks';
import { type Endpoint, type RequestParts, runRequest, StoppedError } from './run-request';
import { type InputLimits, validateInput } from './validate-input';

/** Requests that run at the same time; two such chunks are in memory. */
const CHUNK = { maxRequests: 32, maxBytes: 64 * 1024, maxInputs: 256 };
/** Interval of checks whether the models are ready, in ms. */
const READY_CHECK_MS = 250;

/** Stops a running batch. */
export class StopControl {
  readonly cancellation = new Cancellation();
  /** Null: the batch runs. `shutdown`: the next process continues it. */
  reason: 'cancelled' | 'shutdown' | null = null;

  stop(reason: 'cancelled' | 'shutdown'): void {
    this.reason ??= reason;
    this.cancellation.abort();
  }
}

/** What all batches share. */
export interface BatchEnvironment {
  readonly files: FileStore;
  readonly batches: BatchStore;
  readonly limits: InputLimits;
  /** RESPONSE_LIMIT in bytes. */
  readonly responseLimit: number;
  /** The current route of an endpoint; null: the server does not have it. */
  readonly endpointOf: (path: string) => Endpoint | null;
  /** Current permissions of an API key; null: the key is not valid any more. */
  readonly accessOf: (owner: string) => Access | null;
  readonly readiness: Readiness;
  readonly logUnexpected: (error: unknown) => void;
}

/**
 * Runs a batch from its status to its end: validation, requests, files. After an interruption, it continues after the
 * last checkpoint of the journal: no request is lost or appears twice. Returns early for a shutdown.
 *
 * @throws UsageError: the files of an interrupted run are damaged; RunError: the disk cannot be written
 */
export async function runBatch(
  id: string,
  environment: BatchEnvironment,
  control: StopControl,
): Promise<void> {
  const { batches } = environment;
  const current = (): BatchRecord => batches.find(id, null) as BatchRecord;
  if (current().status === 'validating' && !(await validate(current(), environment, control))) {
    if (control.reason !== 'cancelled') return;
  }
  const output = await BatchOutput.open(current(), environment);
  try {
    if (current().outcome === null) {
      if (current().status === 'cancelling') control.stop('cancelled');
      const ended = await runRequests(current(), { environment, control, output });
      if (control.reason === 'shutdown') return;
      const outcome = control.reason === 'cancelled' ? 'cancelled' : ended.outcome;
      if (outcome === 'completed') await batches.setStatus(id, 'finalizing', { outcome });
      else await batches.save(id, { outcome, problems: ended.problems });
    }
    await output.finish();
    await publish(current(), output, environment);
  } finally {
    await output.close().catch(() => {});
  }
}

/** @returns whether the requests can run */
async function validate(
  { id, endpoint, inputFileId }: BatchRecord,
  { batches, files, limits }: BatchEnvironment,
  control: StopControl,
): Promise<boolean> {
  const file = files.contentPath(inputFileId);
  const isStopped = (): boolean => control.reason !== null;
  const { total, problems } = await validateInput(file, endpoint, limits, isStopped);
  if (isStopped()) return false;
  if (problems.length > 0) {
    await batches.setStatus(id, 'failed', { problems, outcome: 'failed' });
    return false;
  }
  await batches.setStatus(id, 'in_progress', { counts: { total, completed: 0, failed: 0 } });
  return true;
}

interface Run {
  readonly environment: BatchEnvironment;
  readonly control: StopControl;
  readonly output: BatchOutput;
}

/** Result of a run, unless the batch was stopped meanwhile. */
interface Ended {
  readonly outcome: Outcome;
  readonly problems: readonly BatchProblem[];
}

/** Runs the requests that have no result yet. */
async function runRequests(record: BatchRecord, run: Run): Promise<Ended> {
  const isExpired = (): boolean => Date.now() >= record.expiresAt;
  try {
    await runChunks(record, run, isExpired);
    return { outcome: run.output.hasExpired ? 'expired' : 'completed', problems: [] };
  } catch (error) {
    if (error instanceof StoppedError) return { outcome: 'cancelled', problems: [] };
    if (error instanceof BatchError) {
      return { outcome: 'failed', problems: [error.problem] };
    }
    if (!(error instanceof ServiceError)) throw error;
    return { outcome: 'failed', problems: [problemOf('storage_full', error.message)] };
  }
}

/** Runs a chunk while the previous chunk completes and is written. */
async function runChunks(
  record: BatchRecord,
  { environment, control, output }: Run,
  isExpired: () => boolean,
): Promise<void> {
  const { files, limits } = environment;
  const source = {
    file: files.contentPath(record.inputFileId),
    endpoint: record.endpoint,
    maxLineBytes: limits.maxLineBytes,
    skipped: output.requests,
  };
  let written: Promise<void> = Promise.resolve();
  try {
    for await (const { requests, end } of readRequestChunks(source, CHUNK)) {
      await untilReady(environment, control, isExpired);
      const parts = partsOf(record, { environment, control, isExpired });
      const results = Promise.all(requests.map((request) => runRequest(request, parts)));
      const before = written;
      written = Promise.all([results, before]).then(([done]) => output.write(done, end));
      written.catch(() => {}); // the next chunk or the end reports it
      await before;
    }
    await written;
  } catch (error) {
    await Promise.allSettled([written]);
    throw error;
  }
}

/** Waits for the models after a start. @throws StoppedError */
async function untilReady(
  { readiness }: BatchEnvironment,
  control: StopControl,
  isExpired: () => boolean,
): Promise<void> {
  while (control.reason === null && !isExpired() && readiness() !== null) {
    await delay(READY_CHECK_MS);
  }
  if (control.reason !== null) throw new StoppedError();
}

/** @throws BatchError: the endpoint or the API key does not exist any more */
function partsOf(
  { endpoint: path, owner }: BatchRecord,
  {
    environment: { endpointOf, accessOf, readiness, responseLimit, logUnexpected },
    control: { cancellation },
    isExpired,
  }: Omit<Run, 'output'> & { readonly isExpired: () => boolean },
): RequestParts {
  const endpoint = endpointOf(path);
  if (!endpoint) {
    throw new BatchError(problemOf('invalid_endpoint', `The server has no endpoint ${path}.`));
  }
  const access = accessOf(owner);
  if (!access) {
    const message = 'The API key of the batch is not valid any more. Create the batch again.';
    throw new BatchError(problemOf('invalid_api_key', message));
  }
  return {
    endpoint,
    access,
    owner,
    cancellation,
    readiness,
    responseLimit,
    isExpired,
    logUnexpected,
  };
}

function problemOf(code: string, message: string): BatchProblem {
  return { code, message, param: null, line: null };
}

/** Makes the output file and the error file visible, and ends the batch. Idempotent. */
async function publish(
  record: BatchRecord,
  output: BatchOutput,
  { files, batches }: BatchEnvironment,
): Promise<void> {
  const { id, owner, outcome, outputFileId, errorFileId, outputExpiresAfter } = record;
  const { hasOutput, hasErrors } = await output.publish();
  const createdAt = Date.now();
  const expiresAt = createdAt + outputExpiresAfter * 1000;
  const shared = { owner, createdAt, expiresAt, purpose: 'batch_output' } as const;
  const { output: outputBytes, errors: errorBytes } = output.bytes;
  if (hasOutput) {
    const filename = `${id}_output.jsonl`;
    await files.adopt({ ...shared, id: outputFileId, bytes: outputBytes, filename });
  }
  if (hasErrors) {
    const filename = `${id}_error.jsonl`;
    await files.adopt({ ...shared, id: errorFileId, bytes: errorBytes, filename });
  }
  await batches.setStatus(id, outcome as Outcome, { hasOutput, hasErrors });
  await output.removeJournal();
}
