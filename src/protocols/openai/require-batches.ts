import type { BatchService } from '../../batches/batch-service';
import { ServiceError } from '../../serving/errors';

/** Returns the files and batches of the server. @throws ServiceError NOT_FOUND: FILES_DIR is not set */
export type RequireBatches = () => BatchService;

/** @param batches null: FILES_DIR is not set */
export function requireBatchesOf(batches: BatchService | null): RequireBatches {
  return () => {
    if (batches) return batches;
    const message = 'Files and batches are disabled. Set FILES_DIR to a directory.';
    throw new ServiceError('NOT_FOUND', message);
  };
}
