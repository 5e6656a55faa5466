/** TorchServe archives (`.mar`): zip files with a model, its manifest and further files. */
import { createWriteStream, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { z } from 'zod';
import { printable } from '../lib/printable';
import { ModelFileError } from '../models/files';
import { checkModelJson, parseModelJson, quoted } from '../models/json';

const MANIFEST = 'MAR-INF/MANIFEST.json';
const LABELS = 'index_to_name.json';
/** File names of a text model's program, and of a signal model's program and settings. */
const TEXT_MODEL = 'model.pt';
const SIGNAL_MODEL = 'eeg_model.pt';
const SIGNAL_SETTINGS = 'eeg_model.json';

/** Configuration and tokenizer files. Weight files are excluded: the manifest specifies the program. */
const TEXT_MODEL_FILES = /^[^/]+(?<!\.index)\.(?:json|txt|model)$/;

const MAX_ENTRIES = 10_000;
const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** Maximum ratio of unpacked to packed size: weights are almost incompressible. */
const MAX_EXPANSION = 20;
const EXPANSION_ALLOWANCE_BYTES = 64 * 1024 * 1024;

const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;

/** TorchServe handlers without code in the archive whose results match a task. */
const HANDLERS = ['image_classifier', 'text_classifier', 'base_handler'];

const EXPORT_HINT =
  'export the model as TorchScript or torch.export, see docs/start/from-torchserve.md';

const manifestSchema = z.looseObject({
  model: z.looseObject({
    modelName: z.string().nullish(),
    modelVersion: z.string().nullish(),
    serializedFile: z.string().nullish(),
    modelFile: z.string().nullish(),
    handler: z.string().nullish(),
  }),
});

/** Labels as in TorchServe's handlers: a name, or a list whose last element is the name. */
const labelsSchema = z.record(
  z.string().regex(/^\d{1,7}$/, 'expected the number of an output'),
  z.union([z.string(), z.array(z.string()).min(1)], { error: 'expected a name' }),
);

/**
 * Unpacks the files of an archive that its task reads. Python files and files in folders are not unpacked.
 *
 * @param target missing folder; can exist with a part of the files after an error
 * @throws ModelFileError
 */
export function unpackArchive(file: string, target: string): Promise<void> {
  const name = path.basename(file);
  return withEntries(file, 'unpacked', async (zip, entries) => {
    mkdirSync(target, { mode: 0o700 });
    await unpack(zip, entries, name, target);
  });
}

/** Manifest and files of an archive. */
export interface ArchiveReport {
  readonly modelName: string | null;
  readonly modelVersion: string | null;
  readonly handler: string | null;
  /** Files with their unpacked size in bytes. */
  readonly entries: readonly { readonly name: string; readonly bytes: number }[];
}

/** Reads the manifest and the list of files. @throws ModelFileError */
export function readArchive(file: string): Promise<ArchiveReport> {
  const name = path.basename(file);
  return withEntries(file, 'read', async (zip, entries) => {
    const manifest = manifestSchema.safeParse(await readJson(zip, entries, name, MANIFEST));
    const { modelName, modelVersion, handler } = manifest.data?.model ?? {};
    return {
      modelName: modelName ?? null,
      modelVersion: modelVersion ?? null,
      handler: handler ?? null,
      entries: [...entries].map(([entry, { uncompressedSize }]) => ({
        name: entry,
        bytes: uncompressedSize,
      })),
    };
  });
}

async function withEntries<Result>(
  file: string,
  action: 'read' | 'unpacked',
  use: (zip: ZipFile, entries: ReadonlyMap<string, Entry>) => Promise<Result>,
): Promise<Result> {
  const name = path.basename(file);
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(file, { autoClose: false, strictFileNames: true });
    return await use(zip, await entriesOf(zip, name, statSync(file).size));
  } catch (error) {
    if (error instanceof ModelFileError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ModelFileError(printable(`${name}: cannot be ${action}: ${code ?? message}`));
  } finally {
    zip?.close();
  }
}

/** Files by name. yauzl rejects paths that leave the archive. */
async function entriesOf(
  zip: ZipFile,
  archive: string,
  archiveBytes: number,
): Promise<ReadonlyMap<string, Entry>> {
  const fail = (problem: string): never => {
    throw new ModelFileError(printable(`${archive}: ${problem}`));
  };
  if (zip.entryCount > MAX_ENTRIES) {
    fail(`holds ${zip.entryCount} files, expected at most ${MAX_ENTRIES}`);
  }
  const maximum = MAX_EXPANSION * archiveBytes + EXPANSION_ALLOWANCE_BYTES;
  const entries = new Map<string, Entry>();
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const { fileName, uncompressedSize, externalFileAttributes } = entry;
    const type = (externalFileAttributes >>> 16) & FILE_TYPE;
    if (type !== 0 && type !== REGULAR && type !== FOLDER) {
      fail(`${quoted(fileName)}: is a link, or no regular file`);
    }
    if (fileName.endsWith('/')) continue;
    if (entries.has(fileName)) fail(`${quoted(fileName)}: is there twice`);
    entries.set(fileName, entry);
    bytes += uncompressedSize;
    if (bytes > maximum) {
      fail(`unpacks to more than ${MAX_EXPANSION} times its ${archiveBytes} bytes`);
    }
  }
  return entries;
}

async function unpack(
  zip: ZipFile,
  entries: ReadonlyMap<string, Entry>,
  archive: string,
  target: string,
): Promise<void> {
  const manifest = await readJson(zip, entries, archive, MANIFEST);
  if (manifest === undefined) throw new ModelFileError(`${archive}: ${MANIFEST}: not found`);
  const serialized = serializedFileOf(archive, manifest);
  if (!entries.has(serialized)) {
    throw new ModelFileError(printable(`${archive}: ${quoted(serialized)}: not found`));
  }
  const isText = entries.has('config.json');
  const program = isText ? TEXT_MODEL : SIGNAL_MODEL;
  const settings = [SIGNAL_SETTINGS, `${path.parse(serialized).name}.json`];
  const settingsFile = settings.find((name) => entries.has(name));
  const targets = new Map([
    [serialized, path.parse(program).name + (serialized.endsWith('.pt2') ? '.pt2' : '.pt')],
  ]);
  if (isText) {
    for (const name of entries.keys()) {
      if (TEXT_MODEL_FILES.test(name)) targets.set(name, name);
    }
  } else if (settingsFile) {
    targets.set(settingsFile, SIGNAL_SETTINGS);
  }
  for (const [name, file] of targets) {
    const stream = await zip.openReadStreamPromise(entries.get(name) as Entry);
    await pipeline(
      stream,
      createWriteStream(path.join(target, file), { flags: 'wx', mode: 0o600 }),
    );
  }
  if (isText || settingsFile) return;
  const labels = await readJson(zip, entries, archive, LABELS);
  if (labels === undefined) return;
  const classes = labelsOf(`${archive}: ${LABELS}`, labels);
  writeFileSync(path.join(target, SIGNAL_SETTINGS), JSON.stringify({ classes }), { mode: 0o600 });
}

/** @returns undefined: the file is missing */
async function readJson(
  zip: ZipFile,
  entries: ReadonlyMap<string, Entry>,
  archive: string,
  name: string,
): Promise<unknown> {
  const entry = entries.get(name);
  if (!entry) return undefined;
  const where = `${archive}: ${name}`;
  if (entry.uncompressedSize > MAX_JSON_BYTES) {
    throw new ModelFileError(
      `${where}: has ${entry.uncompressedSize} bytes, expected at most ${MAX_JSON_BYTES}`,
    );
  }
  const chunks: Buffer[] = [];
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return parseModelJson(Buffer.concat(chunks).toString('utf8'), where);
}

/** @throws ModelFileError: no model file, or the archive needs Python */
function serializedFileOf(archive: string, content: unknown): string {
  const where = `${archive}: ${MANIFEST}`;
  const { handler, modelFile, serializedFile } = checkModelJson(
    where,
    manifestSchema,
    content,
  ).model;
  const fail = (problem: string): never => {
    throw new ModelFileError(printable(`${where}: ${problem}`));
  };
  if (handler && !HANDLERS.includes(handler)) {
    const expected = `expected one of ${HANDLERS.join(', ')}`;
    fail(`model.handler: ${quoted(handler)} is not supported, ${expected}: ${EXPORT_HINT}`);
  }
  if (modelFile)
    fail(`model.modelFile: ${quoted(modelFile)} is Python, none is run: ${EXPORT_HINT}`);
  if (!serializedFile || /[/\\]/.test(serializedFile) || !/\.(pt2?|pth)$/.test(serializedFile)) {
    fail(`model.serializedFile: expected a .pt or .pt2 file, found ${quoted(serializedFile)}`);
  }
  return serializedFile as string;
}

/** Labels in the order of the model's outputs. @throws ModelFileError: a label is missing */
function labelsOf(where: string, content: unknown): readonly string[] {
  const names = checkModelJson(where, labelsSchema, content);
  const count = Object.keys(names).length;
  return Array.from({ length: count }, (_, index) => {
    const name = names[index];
    if (name === undefined) throw new ModelFileError(`${where}: ${index}: has no name`);
    return typeof name === 'string' ? name : (name.at(-1) as string);
  });
}
