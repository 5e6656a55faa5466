/** Entry point of the thread that reads model folders (see `FolderReader`). */
import { statSync } from 'node:fs';
import path from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { redactPaths } from '../lib/redact-paths';
import { ModelFileError } from '../models/files';
import type { ReaderData, ReadReply, ReadRequest } from './folder-reader';
import { folderStamps } from './folder-stamps';
import { guardPolicyStamp, readGuardPolicy } from './guard-policy';
import { readMemoryBudget } from './memory-budget';
import { listModels, type RepositoryPath, readModel, resolveRepositoryPath } from './read-folder';
import { UnpackedArchives } from './unpacked-archives';

const port = parentPort as MessagePort;
const { unpackInto, dtype, guardFile, directory } = workerData as ReaderData;
const unpacked = new UnpackedArchives(unpackInto);

port.on('message', (request: ReadRequest) => {
  // Only unexpected errors get here. They end this thread; FolderReader starts a new thread.
  respond(request).catch((error) => {
    throw error;
  });
});

/** Resolved path of the model repository; null until the directory exists. */
let repository: RepositoryPath | null = null;

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // `listModels` reports the error.
  }
}

function repositoryPath(): RepositoryPath {
  if (repository) return repository;
  const path = resolveRepositoryPath(directory);
  // A volume that is mounted later can itself be a model.
  if (isDirectory(directory)) repository = path;
  return path;
}

async function respond({ id, action, name }: ReadRequest): Promise<void> {
  const actions = {
    list: () => listModels(repositoryPath()),
    'folder stamps': () => folderStamps(repositoryPath()),
    model: () => readModel(repositoryPath(), name, { dtype, unpacked }),
    'memory budget': () => readMemoryBudget(),
    guard: () => readGuardPolicy(directory, guardFile),
    'guard stamp': () => guardPolicyStamp(directory, guardFile),
    'remove unpacked': () => unpacked.removeBelow(path.join(repositoryPath().directory, name), []),
  };
  port.postMessage(await reply(id, actions[action]));
}

async function reply(id: number, read: () => unknown): Promise<ReadReply> {
  try {
    return { id, content: await read(), problem: null };
  } catch (error) {
    const root = repository?.directory ?? directory;
    return { id, content: null, problem: redactPaths(problemOf(error).replaceAll(root, '')) };
  }
}

/** Message of a ModelFileError or a file system error. @throws any other error */
function problemOf(error: unknown): string {
  if (error instanceof ModelFileError) return error.message;
  const { code, errno } = error as NodeJS.ErrnoException;
  if (typeof errno !== 'number') throw error;
  return `cannot be read: ${code}`;
}
