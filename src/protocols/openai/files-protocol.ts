import type { BatchService } from '../../batches/batch-service';
import type { Protocol } from '../protocol';
import { batchRoutes } from './batches';
import { fileRoutes } from './files';
import { fileErrors, openAiProtocol } from './openai-protocol';
import { requireBatchesOf } from './require-batches';

const SHARED = {
  tag: { name: 'OpenAI batches', description: 'Files and batches, for the `openai` clients.' },
  // Paths do not name a model: each key sees only its own files and batches.
  resourceOf: (): null => null,
};

/**
 * Files and batches of OpenAI's API, as two protocols with their prefixes.
 *
 * @param batches null: FILES_DIR is not set, and all routes return 404
 */
export function openAiFiles(batches: BatchService | null): readonly Protocol[] {
  const requireBatches = requireBatchesOf(batches);
  return [
    { ...openAiProtocol(fileRoutes(requireBatches), fileErrors), prefix: '/v1/files/', ...SHARED },
    {
      ...openAiProtocol(batchRoutes(requireBatches), fileErrors),
      prefix: '/v1/batches/',
      ...SHARED,
    },
  ];
}
