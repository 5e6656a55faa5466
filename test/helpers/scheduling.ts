import type { SchedulingOptions } from '../../src/native/engine';

/** Of engines that a test loads itself. */
export const SCHEDULING: SchedulingOptions = {
  workers: 2,
  threadsPerWorker: 1,
  maxBatchTokens: 512,
  maxBatchRequests: 16,
  maxQueueDelayMs: 0,
  maxQueueRequests: 4096,
  inferenceTimeoutMs: 60_000,
  maxQueueWaitMs: 600_000,
};
