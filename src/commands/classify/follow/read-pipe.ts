import { addAbortSignal, type Readable } from 'node:stream';
import { RunError } from '../../../files/file-errors';
import type { FileChange } from './tail-file';

/**
 * What comes on a pipe, until its end, or until it is stopped.
 *
 * @throws RunError: it cannot be read
 */
export async function* readPipe(pipe: Readable, stop: AbortSignal): AsyncGenerator<FileChange> {
  try {
    for await (const bytes of addAbortSignal(stop, pipe)) yield { type: 'bytes', bytes };
  } catch (error) {
    if (stop.aborted) return;
    throw new RunError(`standard input: cannot be read: ${(error as Error).message}`);
  }
}
