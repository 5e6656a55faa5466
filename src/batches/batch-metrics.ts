import { byLabel, counter, type Family, gauge } from '../serving/metrics/family';
import type { BatchStore } from './batch-store';
import type { FileStore } from './file-store';

/** Metrics of files and batches. */
export function batchMetrics(files: FileStore, batches: BatchStore): readonly Family[] {
  return [
    gauge('libtorch_serve_files', 'Files in FILES_DIR.', () => files.size),
    gauge(
      'libtorch_serve_files_bytes',
      'Size of the files in FILES_DIR in bytes, including unfinished uploads and batch outputs.',
      () => files.bytes,
    ),
    gauge(
      'libtorch_serve_openai_batches_unfinished',
      'Batches that wait or run.',
      () => batches.unfinished.length,
    ),
    counter(
      'libtorch_serve_openai_batch_requests_total',
      'Requests of batches whose result was written, by outcome.',
      () => byLabel('outcome', batches.written),
    ),
  ];
}
