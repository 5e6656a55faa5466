/** The thread that reads directories of models: what runs on it (`FolderReader` starts it). */
import { statSync } from 'node:fs';
import path from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { redactPaths } from '../lib/redact-paths';
import { ModelFileError } from '../models/files';
import type { Read, ReaderData } from './folder-reader';
import { guardPolicyStamp, readGuardPolicy } from './guard-policy';
import { readMemoryBudget } from './memory-budget';
import {
  folderStamps,
  listModels,
  type RepositoryPath,
  readModel,
  resolveRepositoryPath,
} from './read-folder';
import { UnpackedArchives } from './unpacked-archives';
import type { Reply } from './worker-rpc';

const port = parentPort as MessagePort;
const { unpackInto, dtype, guardFile, ...given } = workerData as ReaderData;
const unpacked = new UnpackedArchives(unpackInto);

port.on('message', (asked: Read) => {
  // An error that is thrown here is a fault of the reader itself. It ends this thread; FolderReader starts another.
  answer(asked).catch((error) => {
    throw error;
  });
});

/** What the directory is; null until it has been found. */
let known: RepositoryPath | null = null;

function isDirectory(place: string): boolean {
  try {
    return statSync(place).isDirectory();
  } catch {
    return false; // the listing reports the reason
  }
}

function currentPlace(): RepositoryPath {
  if (known) return known;
  const place = resolveRepositoryPath(given.directory);
  // A volume may be mounted later, and be a model itself.
  if (isDirectory(given.directory)) known = place;
  return place;
}

async function answer({ id, what, name }: Read): Promise<void> {
  const read = {
    list: () => listModels(currentPlace()),
    stamps: () => folderStamps(currentPlace()),
    model: () => readModel(currentPlace(), name, { dtype, unpacked }),
    memory: () => readMemoryBudget(),
    guard: () => readGuardPolicy(given.directory, guardFile),
    'guard stamp': () => guardPolicyStamp(given.directory, guardFile),
    forget: () => unpacked.removeBelow(path.join(currentPlace().directory, name), []),
  };
  port.postMessage(await reply(id, read[what]));
}

async function reply(id: number, read: () => unknown): Promise<Reply<unknown>> {
  try {
    return { id, content: await read(), problem: null };
  } catch (error) {
    const directory = known?.directory ?? given.directory;
    return { id, content: null, problem: redactPaths(problemOf(error).replaceAll(directory, '')) };
  }
}

/** @throws error if it is neither a fault of the folder nor one of the file system */
function problemOf(error: unknown): string {
  if (error instanceof ModelFileError) return error.message;
  const { code, errno } = error as NodeJS.ErrnoException;
  if (typeof errno !== 'number') throw error;
  return `cannot be read: ${code}`;
}
