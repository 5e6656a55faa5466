import { z } from 'zod';
import type { SchedulingOptions } from '../../native/engine';
import type { ModelVersion, NamedModel, ServedModel } from '../../tasks/served-model';

/** Dependencies of the management API. */
export interface ManagementOptions {
  readonly scheduling: SchedulingOptions;
  /** Whether the model was in the repository at the start of the process. */
  readonly isOfStartup: (name: string) => boolean;
  /** Number of workers that clients have set, by model. */
  readonly scaled: WeakMap<ServedModel, { readonly min: number; readonly max: number }>;
}

/** Id of the first worker in TorchServe. */
const FIRST_WORKER = 9000;

const worker = z.object({
  id: z.string(),
  startTime: z.iso.datetime(),
  status: z.enum(['READY', 'UNLOADING']),
  memoryUsage: z.int().describe('Memory of the process in bytes, shared by all workers'),
  pid: z.int(),
  gpu: z.literal(false),
  gpuUsage: z.literal('N/A'),
});

/** Description of a version of a model, in the format of TorchServe. */
export const modelDescription = z.object({
  modelName: z.string(),
  modelVersion: z.string(),
  modelUrl: z.string(),
  engine: z.literal('Torch'),
  runtime: z.literal('libtorch'),
  minWorkers: z.int(),
  maxWorkers: z.int(),
  batchSize: z.int(),
  maxBatchDelay: z.int().describe('ms'),
  responseTimeout: z.int().describe('s'),
  loadedAtStartup: z.boolean(),
  workers: z.array(worker).describe('Empty: the model is not loaded'),
  jobQueueStatus: z
    .object({ remainingCapacity: z.int(), pendingRequests: z.int() })
    .describe('Free capacity of the queue, and inputs in the queue'),
});

export function describeVersion(
  { name }: NamedModel,
  { version, state, served }: ModelVersion,
  { scheduling, isOfStartup, scaled }: ManagementOptions,
): z.infer<typeof modelDescription> {
  const { workers, maxBatchRequests, maxQueueDelayMs, inferenceTimeoutMs } = scheduling;
  const model = served?.model ?? null;
  const { min, max } = (served && scaled.get(served)) ?? { min: workers, max: workers };
  const stats = model?.monitor.stats();
  const waiting = stats?.queueRequests ?? 0;
  const memoryUsage = process.memoryUsage.rss();
  const describeWorkers = (since: Date): z.infer<typeof worker>[] =>
    Array.from({ length: workers }, (_, index) => ({
      id: String(FIRST_WORKER + index),
      startTime: since.toISOString(),
      status: state === 'unloading' ? 'UNLOADING' : 'READY',
      memoryUsage,
      pid: process.pid,
      gpu: false,
      gpuUsage: 'N/A',
    }));
  return {
    modelName: name,
    modelVersion: version,
    modelUrl: name,
    engine: 'Torch',
    runtime: 'libtorch',
    minWorkers: min,
    maxWorkers: max,
    batchSize: maxBatchRequests,
    maxBatchDelay: maxQueueDelayMs,
    responseTimeout: Math.ceil(inferenceTimeoutMs / 1000),
    loadedAtStartup: isOfStartup(name),
    workers: model ? describeWorkers(model.loadedAt) : [],
    jobQueueStatus: {
      remainingCapacity: Math.max(0, (stats?.queueRequestsLimit ?? 0) - waiting),
      pendingRequests: waiting,
    },
  };
}
