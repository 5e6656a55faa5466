import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import vm from 'node:vm';
import { SETTINGS } from '../../src/settings/settings';
import { ROOT } from '../helpers/service';
import { filesOfRepository, readPage } from './markdown';

/** Those of what holds now; CHANGELOG.md says what held once. */
export const pages = filesOfRepository()
  .filter((file) => file.endsWith('.md') && file !== 'CHANGELOG.md')
  .map(readPage);

export function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** What the pattern's group is in the file. */
function inFile(file: string, pattern: RegExp): string {
  const found = pattern.exec(read(file))?.[1];
  if (found === undefined) throw new Error(`${file} has nothing like ${pattern}`);
  return found;
}

/** Of TypeScript, C++ or Rust, as `const NAME = 64 * 1024 ** 2;`, by `FILE#NAME`. */
function constant(place: string): number {
  const [file = '', name] = place.split('#');
  const written = inFile(file, new RegExp(`\\b${name}(?:: \\w+)? = ([^;]+);`));
  return vm.runInNewContext(written.replaceAll(/'|(?<=\d)UL*\b/g, '')) as number;
}

/** Model types of text classifiers that native code runs. */
export function architectures(): readonly string[] {
  const table = read('native/backend/encoder/registry.cc');
  return [...table.matchAll(/\{"([\w-]+)",\s+\{make_/g)].map(([, name]) => name as string);
}

const manifest = JSON.parse(read('package.json'));
const libtorch = JSON.parse(read('scripts/libtorch/libtorch.json'));

function wheelsMegabytes(platform: string): number {
  const wheels: readonly { size: number }[] = libtorch.platforms[platform].wheels;
  return Math.round(wheels.reduce((sum, { size }) => sum + size, 0) / 1e6);
}

const MIB = 1024 ** 2;
const TORCHSCRIPT = 'native/backend/programs/torchscript';
const COMPRESSED = 'src/http/http-request-context.ts#MIN_COMPRESSED_BYTES';
const CHUNK_ROWS = constant('src/files/readers/row-reader.ts#ROWS_PER_CHUNK');

/**
 * Words of the documents, in which `{}` stands for a number or a version, and what it is in the code. Each
 * is said at least once, and wherever it is said, the number is this one.
 */
export const FACTS: readonly (readonly [said: string, is: number | string])[] = [
  ['{} architectures', architectures().length],
  ['Node.js ≥ {}', manifest.engines.node.replace('>=', '')],
  ['CMake ≥ {}', inFile('CMakeLists.txt', /cmake_minimum_required\(VERSION ([\d.]+)\)/)],
  ['Rust ≥ {}', inFile('native/tokenizers/Cargo.toml', /rust-version = "([\d.]+)"/)],
  ['unpacked LibTorch {}', libtorch.version],
  ['LibTorch, {} MB in three files', wheelsMegabytes('linux-x64')],
  ['LibTorch for arm64 is {} MB', wheelsMegabytes('linux-arm64')],
  ['libtorch-serve-{}.tgz', manifest.version],
  ['libtorch-serve-linux-x64-{}.tgz', manifest.version],
  ['OpenAPI {} of', inFile('src/protocols/openapi/document.ts', /openapi: '(\d+\.\d+)/)],
  ['sentiment on port {}', SETTINGS.PORT.default],
  ['EEG (a demonstration) on port {}', Number(SETTINGS.PORT.default) + 1],
  ['headers | {} KiB', http.maxHeaderSize / 1024],
  ['KiB, {} of them', constant('src/http/request-head.ts#MAX_HEADERS')],
  ['objects in it | {}', constant('src/serving/json.ts#MAX_DEPTH')],
  ['for request line and headers | {} s', constant('src/http/server.ts#HEADERS_TIMEOUT_MS') / 1000],
  ['Time for a whole request | {} s', constant('src/serving/timeouts.ts#CLIENT_TIMEOUT_MS') / 1000],
  [
    'Time for reading a response | {} s',
    constant('src/serving/timeouts.ts#CLIENT_TIMEOUT_MS') / 1000,
  ],
  [
    'Pipelined requests of a connection in progress | {}',
    constant('src/http/body.ts#MAX_PIPELINED'),
  ],
  ['closed after the pipelined requests (up to {})', constant('src/serving/connections.ts#GRACE')],
  [
    'each of which may have {} calls in progress',
    constant('src/grpc/server.ts#MAX_CONCURRENT_STREAMS'),
  ],
  ['Responses of {} bytes and more', constant(COMPRESSED)],
  ['within {} ms of the first', constant('src/commands/serve/shutdown.ts#DUPLICATE_SIGNAL_MS')],
  [
    '| {} | Invalid command line, setting or input path',
    constant('src/commands/exit.ts#EXIT_USAGE'),
  ],
  ['| {} | Hung model, after', constant('src/commands/exit.ts#EXIT_HUNG_MODEL')],
  [
    '| {} | Batch commands: complete, with rejected rows',
    constant('src/commands/exit.ts#EXIT_REJECTED_ROWS'),
  ],
  [
    'A window has 1 to {} samples',
    constant('src/tasks/signal-classification/model-settings.ts#LONGEST_WINDOW'),
  ],
  ['up to {} bytes per sample', constant('src/commands/serve/service.ts#MAX_NUMBER_BYTES')],
  ['`retryForMs` | {},', constant('src/client/pipeline-options.ts#RETRIES')],
  ['`retryForMs` | 20, {}', constant('src/client/retry.ts#RETRY_FOR_MS')],
  ['are sent after {} ms', constant('src/client/batch-pipeline.ts#LINGER_MS')],
  ['`concurrency` | {}', inFile('src/client/pipeline-options.ts', /concurrency = (\d+)/)],
  ['`batchSize` | {}', inFile('src/client/pipeline-options.ts', /batchSize = (\d+)/)],
  ['a cell has up to {} MiB', constant('src/files/readers/jsonl-reader.ts#MAX_LINE_BYTES') / MIB],
  ['into memory: up to {} MiB', constant('src/files/readers/recording-files.ts#MAX_BYTES') / MIB],
  [
    'decompression, {} MiB as text',
    constant('src/recordings/read-recording.ts#MAX_TEXT_BYTES') / MIB,
  ],
  ['MiB and {} samples', constant('src/recordings/limits.ts#MAX_SAMPLES')],
  ['Channels | up to {};', constant('src/recordings/limits.ts#MAX_CHANNELS')],
  ['Gaps, annotations | up to {} and', constant('src/recordings/limits.ts#MAX_SEGMENTS')],
  ['formats; up to {} streams', constant('src/recordings/xdf/read-streams.ts#MAX_STREAMS')],
  ['streams, {} clock offsets', constant('src/recordings/xdf/read-streams.ts#MAX_OFFSETS')],
  ['chunk of up to {} rows', CHUNK_ROWS],
  ['those of the first {} rows', CHUNK_ROWS],
  ['row group of {}', constant('src/files/writers/parquet-encoder.ts#ROWS_PER_GROUP')],
  ['offset index, {} rows', constant('src/files/readers/parquet-reader.ts#ROWS_PER_INDEXED_READ')],
  ['the work of up to {} chunks', constant('src/commands/batch/run-job.ts#MAX_CHUNKS')],
  ['elsewhere a line every {} s', constant('src/files/progress.ts#LINE_INTERVAL_MS') / 1000],
  [
    'safetensors headers {} MiB',
    constant('native/tokenizers/src/tensors.rs#MAX_HEADER_BYTES') / MIB,
  ],
  ['decompressed size at most {} MiB', constant(`${TORCHSCRIPT}/archive.cc#kMaxUnpacked`) / MIB],
  ['MiB, code {} MiB', constant(`${TORCHSCRIPT}/archive.cc#kMaxCode`) / MIB],
  ['{} blocks deep', constant(`${TORCHSCRIPT}/operators.cc#kMaxNesting`)],
  [
    'JSON of at most {} MiB',
    constant('native/backend/programs/exported/read_program.cc#kMaxJson') / MIB,
  ],
  [
    '{} million values',
    constant('native/backend/programs/exported/read_program.cc#kMaxValues') / 1e6,
  ],
  ['{} nodes in all graphs', constant('native/tokenizers/src/exported.rs#MAX_NODES')],
];
