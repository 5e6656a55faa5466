/** Entry point of the thread that reads model folders (see `FolderReader`). */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { redactPaths } from '../lib/redact-paths';
import { ModelFileError } from '../models/files';
import type { ReaderData, ReadReply, ReadRequest } from './folder-reader';
import { folderStamps } from './folder-stamps';
import { guardPolicyStamp, readGuardPolicy } from './guard-policy';
import { readMemoryBudget } from './memory-budget';
import { readModel } from './read-folder';
import { RepositoryPaths } from './repository-paths';
import { UnpackedArchives } from './unpacked-archives';

const port = parentPort as MessagePort;
const { unpackInto, dtype, guardFile, paths } = workerData as ReaderData;
const repository = new RepositoryPaths(paths);
const unpacked = new UnpackedArchives(unpackInto);

port.on('message', (request: ReadRequest) => {
  // Only unexpected errors get here. They end this thread; FolderReader starts a new thread.
  respond(request).catch((error) => {
    throw error;
  });
});

async function respond({ id, action, name }: ReadRequest): Promise<void> {
  const actions = {
    list: () => repository.list(),
    'folder stamps': () => folderStamps(repository),
    model: () => {
      const location = repository.find(name);
      return location && readModel(location, { dtype, unpacked });
    },
    'memory budget': () => readMemoryBudget(),
    guard: () => readGuardPolicy(paths, guardFile),
    'guard stamp': () => guardPolicyStamp(paths, guardFile),
    'remove unpacked': () => unpacked.removeOf(name),
  };
  port.postMessage(await reply(id, actions[action]));
}

async function reply(id: number, read: () => unknown): Promise<ReadReply> {
  try {
    return { id, content: await read(), problem: null };
  } catch (error) {
    return { id, content: null, problem: redactPaths(repository.redact(problemOf(error))) };
  }
}

/** Message of a ModelFileError or a file system error. @throws any other error */
function problemOf(error: unknown): string {
  if (error instanceof ModelFileError) return error.message;
  const { code, errno } = error as NodeJS.ErrnoException;
  if (typeof errno !== 'number') throw error;
  return `cannot be read: ${code}`;
}
