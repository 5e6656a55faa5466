import { z } from 'zod';
import type { SchedulingOptions } from '../../native/engine';
import type { ModelVersion, NamedModel } from '../../tasks/catalogue';
import type { ServedModel } from '../../tasks/served';

/** What the management API is made with. */
export interface ManagementOptions {
  readonly scheduling: SchedulingOptions;
  /** Whether a model was there when the process began. */
  readonly isOfStartup: (name: string) => boolean;
  /** As clients have scaled models. */
  readonly scaled: WeakMap<ServedModel, { readonly min: number; readonly max: number }>;
}

/** The first id that TorchServe gives to a worker. */
const FIRST_WORKER = 9000;

const worker = z.object({
  id: z.string(),
  startTime: z.iso.datetime(),
  status: z.enum(['READY', 'UNLOADING']),
  memoryUsage: z.int().describe('Bytes of the process, which all workers share'),
  pid: z.int(),
  gpu: z.literal(false),
  gpuUsage: z.literal('N/A'),
});

/** A version of a model as TorchServe describes it. */
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
  workers: z.array(worker).describe('None: the model cannot be asked'),
  jobQueueStatus: z
    .object({ remainingCapacity: z.int(), pendingRequests: z.int() })
    .describe('Inputs that may come, and that wait'),
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
    workers: model ? describeWorkers(model.since) : [],
    jobQueueStatus: {
      remainingCapacity: Math.max(0, (stats?.queueRequestsLimit ?? 0) - waiting),
      pendingRequests: waiting,
    },
  };
}
