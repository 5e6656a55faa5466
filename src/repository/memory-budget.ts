/** What memory this process may still take, and how much a model takes. Reads files: for the reader's thread. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Dtype, ModelSource, TextModelSource } from '../native/engine';
import { controlGroups, type ReadText, readText } from '../settings/environment';

/** In bytes. */
export interface MemoryBudget {
  /** Until the kernel would end the process; what it can give back of the cache of files is part of it. */
  readonly availableBytes: number;
  /** Of the container, or of the machine. */
  readonly limitBytes: number;
}

/** The tightest of the limits of the process's control groups and of the machine's memory. */
export function readMemoryBudget(read: ReadText = readText): MemoryBudget {
  const machine = read('/proc/meminfo') ?? '';
  const all: MemoryBudget[] = [
    {
      limitBytes: kilobytes(machine, 'MemTotal'),
      availableBytes: kilobytes(machine, 'MemAvailable'),
    },
  ];
  for (const { directory, isVersion2 } of controlGroups('memory', read)) {
    const file = (name: string): string => read(path.join(directory, name))?.trim() ?? '';
    const limit = Number.parseInt(file(isVersion2 ? 'memory.max' : 'memory.limit_in_bytes'), 10);
    // An unlimited group says "max" (version 2), or more than there can be (version 1).
    if (!(limit <= Number.MAX_SAFE_INTEGER)) continue;
    const used = Number(file(isVersion2 ? 'memory.current' : 'memory.usage_in_bytes'));
    const cache = reclaimable(file('memory.stat'), isVersion2 ? '' : 'total_');
    all.push({ limitBytes: limit, availableBytes: Math.max(0, limit - used + cache) });
  }
  return all.reduce((tightest, one) =>
    one.availableBytes < tightest.availableBytes ? one : tightest,
  );
}

/** Pages of files, on both of the kernel's lists: it takes them back before it ends a process. */
function reclaimable(stat: string, prefix: string): number {
  return ['inactive_file', 'active_file']
    .map((name) => Number(new RegExp(`^${prefix}${name} (\\d+)$`, 'm').exec(stat)?.[1] ?? 0))
    .reduce((sum, bytes) => sum + bytes);
}

/** Infinity where /proc does not say. */
function kilobytes(meminfo: string, name: string): number {
  const [, text] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(meminfo) ?? [];
  return text === undefined ? Number.POSITIVE_INFINITY : Number(text) * 1024;
}

/** Bytes of a number of a weight, where they are not those of the file. */
const BYTES: Readonly<Partial<Record<Dtype, number>>> = { bfloat16: 2, int8: 1 };

/** A tokenizer, a trial and what batches leave with malloc, to the weights (docs/decisions/068-memory-of-a-model.md). */
const WEIGHT_FACTOR = 1.25;
const OVERHEAD_BYTES = 64 * 2 ** 20;

/** What is read row by row stays in the mapped file. */
const EMBEDDING_TABLE = /embeddings\.weight$/;

/** Of a file's header; the largest are below 1 MB. */
const MAX_HEADER_BYTES = 100e6;

const size = z.int().nonnegative();
const tensorSchema = z.looseObject({
  shape: z.array(size),
  data_offsets: z.tuple([size, size]),
});
const headerSchema = z.record(z.string(), tensorSchema);

type StoredTensor = z.output<typeof tensorSchema>;

/** At most, in bytes, while a model is loaded and when it serves. */
export function estimateMemory(source: ModelSource, dtype: Dtype): number {
  return WEIGHT_FACTOR * weightBytes(source, dtype) + OVERHEAD_BYTES;
}

/** In the numbers that it multiplies in; what is read as a whole first is there twice then. */
function weightBytes(source: ModelSource, dtype: Dtype): number {
  if (source.type !== 'text-encoder') return 2 * sizeOf(source.path);
  // Its last layer is the table of words, multiplied like the others.
  const tables = source.head.name === 'masked-lm' ? null : EMBEDDING_TABLE;
  return weightFilesOf(source)
    .map((file) =>
      file.endsWith('.safetensors') ? mappedWeights(file, dtype, tables) : 2 * sizeOf(file),
    )
    .reduce((sum, bytes) => sum + bytes, 0);
}

function weightFilesOf({ weightFiles, head }: TextModelSource): readonly string[] {
  const modules = head.name === 'embedding' ? head.modules : [];
  return [
    ...weightFiles,
    ...modules.flatMap((module) => ('weightFiles' in module ? module.weightFiles : [])),
  ];
}

function mappedWeights(file: string, dtype: Dtype, tables: RegExp | null): number {
  const header = readHeader(file);
  if (!header) return sizeOf(file); // the engine says what is wrong with it
  // Numbers at addresses that are no multiple of their size are copied first.
  const copies = header.begin % 8 === 0 ? 0 : sizeOf(file);
  return Object.entries(header.tensors)
    .filter(([name]) => !tables?.test(name))
    .reduce((sum, [, tensor]) => sum + tensorBytes(dtype, tensor), copies);
}

function tensorBytes(dtype: Dtype, { shape, data_offsets: [begin, end] }: StoredTensor): number {
  const bytes = BYTES[dtype];
  const stored = end - begin;
  if (bytes === undefined) return stored;
  return Math.min(stored, bytes * shape.reduce((product, size) => product * size, 1));
}

interface Header {
  readonly tensors: Readonly<Record<string, StoredTensor>>;
  /** Of the numbers, in the file. */
  readonly begin: number;
}

/** Of a safetensors file: its length in 8 bytes, then JSON. Null: it is not as it has to be. */
function readHeader(file: string): Header | null {
  const opened = openSync(file, 'r');
  try {
    const length = Buffer.alloc(8);
    readSync(opened, length);
    const bytes = Number(length.readBigUInt64LE());
    if (bytes > Math.min(MAX_HEADER_BYTES, sizeOf(file))) return null;
    const text = Buffer.alloc(bytes);
    readSync(opened, text, 0, bytes, 8);
    const { __metadata__: _, ...content } = JSON.parse(text.toString());
    return { tensors: headerSchema.parse(content), begin: 8 + bytes };
  } catch {
    return null;
  } finally {
    closeSync(opened);
  }
}

function sizeOf(file: string): number {
  return statSync(file).size;
}

/** For clients and the log. */
export function describeMemoryShortage(
  needed: number,
  { availableBytes: left, limitBytes: limit }: MemoryBudget,
): string {
  const [needs, rest, all] = [needed, left, limit].map((bytes) => Math.round(bytes / 1e6));
  return (
    `needs about ${needs} MB of memory, ${rest} MB are left of the limit of ${all} MB: raise the limit, ` +
    'unload another model, or give a text model a smaller "dtype"'
  );
}
