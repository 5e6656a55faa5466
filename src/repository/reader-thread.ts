/** The thread that reads directories of models: what runs on it (`FolderReader` starts it). */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { ModelFileError } from '../models/files';
import { withoutPaths } from '../without-paths';
import { memoryLeft } from './memory';
import { listModels, readModel, stampModels } from './read-folder';
import type { Read, ReaderData, Reply } from './reader';

const port = parentPort as MessagePort;
const { directory, dtype } = workerData as ReaderData;

port.on('message', ({ id, what, name }: Read) => {
  const read = {
    list: () => listModels(directory),
    stamps: () => stampModels(directory),
    model: () => readModel(directory, name, dtype),
    memory: () => memoryLeft(),
  };
  port.postMessage(reply(id, read[what]));
});

function reply(id: number, read: () => unknown): Reply {
  try {
    return { id, content: read(), problem: null };
  } catch (error) {
    const { message } = error as Error;
    const isExpected = error instanceof ModelFileError;
    const problem = isExpected
      ? message
      : `cannot be read: ${(error as NodeJS.ErrnoException).code}`;
    return { id, content: null, problem: withoutPaths(problem.replaceAll(directory, '')) };
  }
}
