/** Available memory of the process and memory of a model. Reads files: runs on the reader thread. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { readSafetensorsHeader, type StoredTensor } from '../models/safetensors';
import type { Dtype, ModelSource, TextModelSource } from '../native/engine';
import { controlGroups, type ReadText, readText } from '../settings/environment';

/** Memory in bytes. */
export interface MemoryBudget {
  /** Memory that the process can allocate before the kernel kills it, including reclaimable page cache. */
  readonly availableBytes: number;
  /** Memory limit of the container, or memory of the machine. */
  readonly limitBytes: number;
}

/** The budget with the least available memory, of the process's control groups and the machine. */
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
    // Without a limit, the file contains "max" (version 2) or a number above any memory size (version 1).
    if (!(limit <= Number.MAX_SAFE_INTEGER)) continue;
    const used = Number(file(isVersion2 ? 'memory.current' : 'memory.usage_in_bytes'));
    const cache = reclaimable(file('memory.stat'), isVersion2 ? '' : 'total_');
    all.push({ limitBytes: limit, availableBytes: Math.max(0, limit - used + cache) });
  }
  return all.reduce((tightest, budget) =>
    budget.availableBytes < tightest.availableBytes ? budget : tightest,
  );
}

/** Page cache of the group, active and inactive: the kernel reclaims it before it kills a process. */
function reclaimable(stat: string, prefix: string): number {
  return ['inactive_file', 'active_file']
    .map((name) => Number(new RegExp(`^${prefix}${name} (\\d+)$`, 'm').exec(stat)?.[1] ?? 0))
    .reduce((sum, bytes) => sum + bytes);
}

/** A value of /proc/meminfo in bytes; Infinity if missing. */
function kilobytes(meminfo: string, name: string): number {
  const [, text] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(meminfo) ?? [];
  return text === undefined ? Number.POSITIVE_INFINITY : Number(text) * 1024;
}

/** Bytes per weight of number formats that differ from the file. */
const BYTES: Readonly<Partial<Record<Dtype, number>>> = {
  bfloat16: 2,
  int8: 1,
  'int8-vnni': 1,
};

/** Factor and constant for tokenizer, load-time check and heap fragmentation (docs/project/decisions/031-check-memory-before-loading-a-model.md). */
const WEIGHT_FACTOR = 1.25;
const OVERHEAD_BYTES = 64 * 2 ** 20;

/** Embedding tables, which stay memory-mapped. */
const EMBEDDING_TABLE = /(?:embeddings|embed_tokens|^embedding)\.weight$|^embeddings$/;

/** Maximum memory of a model in bytes, during load and inference. */
export function estimateMemory(source: ModelSource, dtype: Dtype): number {
  return WEIGHT_FACTOR * weightBytes(source, dtype) + OVERHEAD_BYTES;
}

/** Bytes of the weights in their number format. A file that is not memory-mapped counts twice during load. */
function weightBytes(source: ModelSource, dtype: Dtype): number {
  if (source.type !== 'text-encoder') return 2 * sizeOf(source.path);
  // The output layer of a masked language model is the embedding table: it is converted like other weights.
  const tables = source.head.name === 'masked-lm' ? null : EMBEDDING_TABLE;
  return weightFilesOf(source)
    .map((file) =>
      file.endsWith('.safetensors') ? mappedWeights(file, dtype, tables) : 2 * sizeOf(file),
    )
    .reduce((sum, bytes) => sum + bytes, 0);
}

function weightFilesOf({ weightFiles, head, adapter }: TextModelSource): readonly string[] {
  const modules = head.name === 'embedding' ? head.modules : [];
  return [
    ...weightFiles,
    ...(adapter ? [adapter.weightFile] : []),
    ...modules.flatMap((module) => ('weightFiles' in module ? module.weightFiles : [])),
  ];
}

function mappedWeights(file: string, dtype: Dtype, tables: RegExp | null): number {
  const header = readSafetensorsHeader(file);
  if (!header) return sizeOf(file); // The engine reports the error.
  // Unaligned weights are copied.
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

function sizeOf(file: string): number {
  return statSync(file).size;
}

/** Error message for clients and the log. */
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
