import type { TextHead } from '../../native/engine';
import { existingFiles } from '../files';

/** Linear layers that FlagEmbedding stores beside the encoder. */
const SPARSE = 'sparse_linear.pt';
const COLBERT = 'colbert_linear.pt';

/**
 * Reads the layers of bge-m3 for sparse and ColBERT embeddings.
 *
 * @param normalizes whether the dense embedding is normalized
 * @returns null if the folder lacks one of the files
 * @throws ModelFileError
 */
export function readBgeM3(
  directory: string,
  normalizes: boolean,
): Extract<TextHead, { name: 'bge-m3' }> | null {
  const sparseFiles = existingFiles(directory, [SPARSE]);
  const colbertFiles = existingFiles(directory, [COLBERT]);
  if (sparseFiles.length === 0 || colbertFiles.length === 0) return null;
  return { name: 'bge-m3', sparseFiles, colbertFiles, normalizes };
}
