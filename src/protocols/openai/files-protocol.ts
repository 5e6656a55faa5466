import type { BatchService } from '../../batches/batch-service';
import type { Protocol } from '../protocol';
import { batchRoutes } from './batches';
import { fileRoutes } from './files';
import { fileErrors, openAiProtocol } from './openai-protocol';
import { requireBatchesOf } from './require-batches';

/**
 * Files and batches of OpenAI's API.
 *
 * @param batches null: FILES_DIR is not set, and all routes return 404
 */
export function openAiFiles(batches: BatchService | null): Protocol {
  const requireBatches = requireBatchesOf(batches);
  const routes = [...fileRoutes(requireBatches), ...batchRoutes(requireBatches)];
  // Paths do not name a model: each key sees only its own files and batches.
  return { ...openAiProtocol(routes, fileErrors), resourceOf: () => null };
}
