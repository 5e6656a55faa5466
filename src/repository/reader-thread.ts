/** The thread that reads directories of models: what runs on it (`FolderReader` starts it). */
import path from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { ModelFileError } from '../models/files';
import { withoutPaths } from '../without-paths';
import { UnpackedArchives } from './archives';
import { memoryLeft } from './memory';
import type { Reply } from './questions';
import { listModels, readModel, stampModels } from './read-folder';
import type { Read, ReaderData } from './reader';

const port = parentPort as MessagePort;
const { directory, unpackInto, dtype } = workerData as ReaderData;
const unpacked = new UnpackedArchives(unpackInto);

port.on('message', async ({ id, what, name }: Read) => {
  const read = {
    list: () => listModels(directory),
    stamps: () => stampModels(directory),
    model: () => readModel(directory, name, { dtype, unpacked }),
    memory: () => memoryLeft(),
    forget: () => unpacked.forgetBelow(path.join(directory, name), []),
  };
  port.postMessage(await reply(id, read[what]));
});

async function reply(id: number, read: () => unknown): Promise<Reply<unknown>> {
  try {
    return { id, content: await read(), problem: null };
  } catch (error) {
    const { message } = error as Error;
    const isExpected = error instanceof ModelFileError;
    const problem = isExpected
      ? message
      : `cannot be read: ${(error as NodeJS.ErrnoException).code}`;
    return { id, content: null, problem: withoutPaths(problem.replaceAll(directory, '')) };
  }
}
