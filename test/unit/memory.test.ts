import { statSync } from 'node:fs';
import type { Dtype } from '../../src/native/engine';
import { LoadedModels } from '../../src/repository/loaded-models';
import {
  describeMemoryShortage,
  estimateMemory,
  readMemoryBudget,
} from '../../src/repository/memory-budget';
import type { ModelJson } from '../../src/repository/model-json';
import type { ReadableVersion } from '../../src/repository/read-folder';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import { Folder } from '../helpers/files';

const MB = 1e6;
const MEMINFO = 'MemTotal:       8000000 kB\nMemFree: 1 kB\nMemAvailable:   4000000 kB\n';

function left(files: Readonly<Record<string, string>>) {
  const all: Readonly<Record<string, string>> = { '/proc/meminfo': MEMINFO, ...files };
  return readMemoryBudget((file) => all[file] ?? null);
}

describe('memoryLeft', () => {
  const machine = { limitBytes: 8_000_000 * 1024, availableBytes: 4_000_000 * 1024 };

  it('is what the machine has where no group limits it', () => {
    expect(left({})).toEqual(machine);
    const unlimited = { '/proc/self/cgroup': '0::/a\n', '/sys/fs/cgroup/a/memory.max': 'max\n' };
    expect(left(unlimited)).toEqual(machine);
  });

  it('is what the group of version 2 leaves, of files what can be read again', () => {
    expect(
      left({
        '/proc/self/cgroup': '0::/\n',
        '/sys/fs/cgroup/memory.max': '512000000\n',
        '/sys/fs/cgroup/memory.current': '400000000\n',
        '/sys/fs/cgroup/memory.stat':
          'anon 1\nfile 90\ninactive_file 60000000\nactive_file 30000000\nshmem 5\n',
      }),
    ).toEqual({ limitBytes: 512 * MB, availableBytes: 202 * MB });
  });

  it('is what the tightest of all groups above leaves', () => {
    const group = (name: string, limit: number, used: number) => ({
      [`/sys/fs/cgroup${name}/memory.max`]: `${limit * MB}\n`,
      [`/sys/fs/cgroup${name}/memory.current`]: `${used * MB}\n`,
      [`/sys/fs/cgroup${name}/memory.stat`]: 'inactive_file 0\nactive_file 0\n',
    });
    const files = { '/proc/self/cgroup': '0::/a/b\n', ...group('/a/b', 700, 100) };
    expect(left(files)).toEqual({ limitBytes: 700 * MB, availableBytes: 600 * MB });
    expect(left({ ...files, ...group('/a', 900, 850) })).toEqual({
      limitBytes: 900 * MB,
      availableBytes: 50 * MB,
    });
  });

  it('is what a group of version 1 leaves, with those below it', () => {
    const files = {
      '/proc/self/cgroup': '5:cpu:/b\n4:memory:/a\n0::/\n',
      '/sys/fs/cgroup/memory/a/memory.limit_in_bytes': '300000000\n',
      '/sys/fs/cgroup/memory/a/memory.usage_in_bytes': '290000000\n',
      '/sys/fs/cgroup/memory/a/memory.stat':
        'inactive_file 1\nactive_file 1\ntotal_inactive_file 40000000\ntotal_active_file 1000000\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': '9000000000\n',
    };
    expect(left(files)).toEqual({ limitBytes: 300 * MB, availableBytes: 51 * MB });
  });

  it('is not below 0: a group may be over a limit that was lowered', () => {
    const files = {
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/memory.max': '100\n',
      '/sys/fs/cgroup/memory.current': '200\n',
    };
    expect(left(files)).toEqual({ limitBytes: 100, availableBytes: 0 });
  });

  it('reads this machine', () => {
    const memory = readMemoryBudget();
    expect(memory.availableBytes).toBeGreaterThan(0);
    expect(memory.availableBytes).toBeLessThanOrEqual(memory.limitBytes);
  });
});

describe('memoryNeeded', () => {
  const folder = new Folder();
  afterAll(() => folder.remove());

  /** A safetensors file of these tensors, whose numbers are not there; `gap`: bytes before where they belong. */
  function weights(
    name: string,
    tensors: Readonly<Record<string, readonly [string, number[]]>>,
    gap = 0,
  ) {
    let end = 0;
    const header = Object.entries(tensors).map(([key, [dtype, shape]]) => {
      const begin = end;
      end += (dtype === 'F32' ? 4 : 2) * shape.reduce((product, size) => product * size, 1);
      return [key, { dtype, shape, data_offsets: [begin, end] }];
    });
    const text = JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(header) });
    const json = Buffer.from(text.padEnd(8 * Math.ceil(text.length / 8)) + ' '.repeat(gap));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(json.length));
    return folder.put(name, Buffer.concat([length, json]));
  }

  const of = (...weightFiles: string[]) => ({
    type: 'text-encoder' as const,
    modelType: 'bert',
    head: { name: 'sequence-classification' as const },
    config: {},
    tokenizerDirectory: folder.path,
    weightFiles,
  });
  const empty = estimateMemory(of(), 'float32');
  /** Without what every model takes: a quarter more than the weights. */
  const beside = (source: Parameters<typeof estimateMemory>[0], dtype: Dtype) =>
    (estimateMemory(source, dtype) - empty) / 1.25;

  it('is that of the weights in the numbers that are multiplied, without tables', () => {
    const single = weights('single.safetensors', {
      'bert.embeddings.word_embeddings.weight': ['F32', [30_000, 100]],
      'bert.encoder.layer.0.output.dense.weight': ['F32', [2000, 500]],
    });
    const half = weights('half.safetensors', { 'classifier.weight': ['F16', [2000, 500]] });
    expect(beside(of(single), 'float32')).toBe(4 * MB);
    expect(beside(of(single), 'bfloat16')).toBe(2 * MB);
    expect(beside(of(single), 'int8')).toBe(1 * MB);
    expect(beside(of(half), 'float32')).toBe(2 * MB);
    expect(beside(of(half), 'int8')).toBe(1 * MB);
    expect(beside(of(single, half), 'float32')).toBe(6 * MB);
    expect(empty).toBe(64 * 2 ** 20);
  });

  it('is more by the file where that has its numbers at odd addresses', () => {
    const odd = weights('addresses.safetensors', { 'classifier.weight': ['F32', [2000, 500]] }, 2);
    const copies = statSync(odd).size;
    expect(beside(of(odd), 'int8')).toBe(MB + copies);
  });

  it.each([
    ['cut off', Buffer.from('abc')],
    ['of a header that it does not have', Buffer.from('ffffffffffffff7f00', 'hex')],
    ['no JSON', Buffer.concat([Buffer.from('0200000000000000', 'hex'), Buffer.from('[{')])],
    [
      'of other JSON',
      Buffer.concat([Buffer.from('0700000000000000', 'hex'), Buffer.from('{"a":1}')]),
    ],
  ])('is the size of a file that is %s', (_, content) => {
    const file = folder.put('odd.safetensors', content);
    expect(beside(of(file), 'int8')).toBe(content.length);
  });

  it('is twice the size of what is read as a whole', () => {
    const file = folder.put('pytorch_model.bin', Buffer.alloc(1000));
    expect(beside(of(file), 'int8')).toBe(2000);
    const program = { type: 'signal-program' as const, path: file, windowLength: 256 };
    expect(beside(program, 'float32')).toBe(2000);
  });
});

describe('a model that does not fit', () => {
  const settings = { dtype: 'float32', weight: 1 } as ModelJson;
  const found = (name: string, memory: number) =>
    ({ fingerprint: name, path: name, memoryNeeded: memory }) as unknown as ReadableVersion;
  /** Of those that are being loaded, by name; each ends when the test says so. */
  const loading = new Map<string, () => void>();
  let memory = { availableBytes: 100 * MB, limitBytes: 500 * MB };
  const task = {} as Task;
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  /** One is there already, and with it LibTorch. */
  async function loaded(): Promise<LoadedModels> {
    const models = new LoadedModels({} as never, async () => memory);
    memory = { availableBytes: 200 * MB, limitBytes: 500 * MB };
    const first = models.acquire(task, found('first', 0), settings);
    await settled();
    loading.get('first')?.();
    await first;
    loading.clear();
    memory = { availableBytes: 100 * MB, limitBytes: 500 * MB };
    return models;
  }

  beforeEach(() => {
    loading.clear();
    jest
      .spyOn(TaskModel, 'load')
      .mockImplementation(
        (_, path) =>
          new Promise((resolve) =>
            loading.set(path, () => resolve({ metadata: {} } as unknown as TaskModel)),
          ),
      );
  });
  afterEach(() => jest.restoreAllMocks());

  it('is refused with both numbers', async () => {
    await expect((await loaded()).acquire(task, found('a', 120 * MB), settings)).rejects.toThrow(
      'needs about 120 MB of memory, 100 MB are left of the limit of 500 MB: ',
    );
    expect([...loading.keys()]).toEqual([]);
    expect(
      describeMemoryShortage(2.6 * MB, { availableBytes: 1.4 * MB, limitBytes: 0.6 * MB }),
    ).toMatch(/^needs about 3 MB of memory, 1 MB are left of the limit of 1 MB: /);
  });

  it('is told what LibTorch takes, too, where it would be the first', async () => {
    const models = new LoadedModels({} as never, async () => memory);
    memory = { availableBytes: 100 * MB, limitBytes: 500 * MB };
    await expect(models.acquire(task, found('a', MB), settings)).rejects.toThrow(
      'needs about 135 MB of memory, 100 MB are left',
    );
  });

  it('leaves room for the answers that are kept and are not there yet', async () => {
    const models = new LoadedModels({ resultCacheMb: 50 } as never, async () => memory);
    memory = { availableBytes: 200 * MB, limitBytes: 500 * MB };
    await expect(models.acquire(task, found('a', 20 * MB), settings)).rejects.toThrow(
      'needs about 207 MB of memory, 200 MB are left',
    );
    const first = models.acquire(task, found('a', 0), settings);
    await settled();
    loading.get('a')?.();
    const monitor = { stats: () => ({ cacheBytes: 30 * 2 ** 20 }) };
    Object.assign(await first, { monitor });
    memory = { availableBytes: 40 * MB, limitBytes: 500 * MB };
    await expect(models.acquire(task, found('b', 20 * MB), settings)).rejects.toThrow(
      'needs about 41 MB of memory, 40 MB are left',
    );
  });

  it('waits for one that is being loaded, and is refused when that has taken its own', async () => {
    const models = await loaded();
    const first = models.acquire(task, found('a', 60 * MB), settings);
    const second = models.acquire(task, found('b', 60 * MB), settings);
    const refused = expect(second).rejects.toThrow('needs about 60 MB of memory, 40 MB are left');
    await settled();
    expect([...loading.keys()]).toEqual(['a']);
    memory = { ...memory, availableBytes: 40 * MB };
    loading.get('a')?.();
    await first;
    await refused;
    expect([...loading.keys()]).toEqual(['a']);
  });

  it('is loaded after one that takes less than it might have', async () => {
    const models = await loaded();
    const first = models.acquire(task, found('a', 60 * MB), settings);
    const second = models.acquire(task, found('b', 60 * MB), settings);
    await settled();
    memory = { ...memory, availableBytes: 70 * MB };
    loading.get('a')?.();
    await first;
    await settled();
    expect([...loading.keys()]).toEqual(['a', 'b']);
    loading.get('b')?.();
    await second;
    expect(models.models).toHaveLength(3);
  });

  it('fits beside one that is being loaded where both do', async () => {
    const models = await loaded();
    const both = [
      models.acquire(task, found('a', 50 * MB), settings),
      models.acquire(task, found('b', 50 * MB), settings),
    ];
    await settled();
    expect([...loading.keys()]).toEqual(['a', 'b']);
    for (const end of loading.values()) end();
    await Promise.all(both);
  });
});
