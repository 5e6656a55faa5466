/** Defaults of settings that depend on the machine, the working directory or other settings. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from './environment';
import { parseBytes } from './parsers';

/** Texts of the settings as written, by setting name. */
export type RawSettings = ReadonlyMap<string, string>;

/** Maximum BODY_LIMIT in bytes; V8's longest string is about 512 MiB. */
export const MAX_BODY_LIMIT = 256 * 1024 ** 2;
export const DEFAULT_BODY_LIMIT = '1mb';
export const DEFAULT_QUEUE_REQUESTS = '2048';
const MIN_BODY_MEMORY = 64 * 1024 ** 2;
const MIN_RESPONSE_LIMIT = 32 * 1024 ** 2;
/** File descriptors that the process itself needs: fewer than 50 on Linux, plus a reserve. */
export const RESERVED_DESCRIPTORS = 100;

export function defaultSentimentModel({ packageRoot }: Environment): string {
  return path.join(packageRoot, 'models', 'sentiment');
}

/** `eeg_model.pt`, or `eeg_model.pt2` if it is the only one of the two files. */
export function defaultEegModel({ workingDirectory }: Environment): string {
  const exists = (name: string): boolean => existsSync(path.join(workingDirectory, name));
  return !exists('eeg_model.pt') && exists('eeg_model.pt2') ? 'eeg_model.pt2' : 'eeg_model.pt';
}

/** One worker per core: single-threaded workers have the highest throughput. */
export function defaultWorkers({ availableCores }: Environment, raw: RawSettings): string {
  const threadsPerWorker = Number(raw.get('THREADS_PER_WORKER')) || 1;
  return String(Math.max(1, Math.floor(availableCores / threadsPerWorker)));
}

/** At most half of the default queue capacity, so that a list leaves room for other requests. */
export function defaultListLength(_environment: Environment, raw: RawSettings): string {
  const capacity = raw.get('MAX_QUEUE_REQUESTS') ?? DEFAULT_QUEUE_REQUESTS;
  return String(Math.min(1024, Number(capacity) || 1024));
}

/** At least twice BODY_LIMIT: a response may repeat its body. */
export function defaultResponseLimit(_environment: Environment, raw: RawSettings): string {
  return String(Math.min(Math.max(MIN_RESPONSE_LIMIT, 2 * bodyLimitOf(raw)), MAX_BODY_LIMIT));
}

/** At least BODY_LIMIT, so that a body of the maximum size is accepted. */
export function defaultBodyMemory(_environment: Environment, raw: RawSettings): string {
  return String(Math.max(MIN_BODY_MEMORY, Math.min(bodyLimitOf(raw), MAX_BODY_LIMIT)));
}

/** At most 10,000: an idle connection takes about 15 kB. HTTP and gRPC share the descriptors equally. */
export function defaultConnections({ maxDescriptors }: Environment, raw: RawSettings): string {
  const ports = raw.get('GRPC_PORT') ? 2 : 1;
  const available = Math.floor((maxDescriptors - RESERVED_DESCRIPTORS) / ports);
  return String(Math.max(16, Math.min(10_000, available)));
}

function bodyLimitOf(raw: RawSettings): number {
  return parseBytes(raw.get('BODY_LIMIT') ?? DEFAULT_BODY_LIMIT) || 0;
}
