/** A directory of models in a container whose memory is limited: what does not fit is refused, not ended. */
import { truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { post, request } from '../helpers/http';
import { FIRST, ModelsDirectory, modelOf } from '../helpers/models-directory';
import { skipWhere } from '../helpers/needs';
import { killAll, MAIN, type Service } from '../helpers/service';

interface ControlGroup {
  /** What is run by these words is in it. */
  readonly through: readonly string[];
  remove(): void;
}

const { makeControlGroup } = require('../../bench/control-group.cjs') as {
  makeControlGroup(name: string, controller: 'memory', bytes: number): ControlGroup;
};

const NAME = `libtorch-serve-test-${process.pid}`;
const LIMIT = 600e6;
/** Below the limit: but Node.js and LibTorch have a part of that. */
const WEIGHTS = 580e6;
const TEXT = { text: 'A warm, funny film.' };

const groupProblem = (): string | null => {
  try {
    makeControlGroup(NAME, 'memory', LIMIT).remove();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

const { describe: describeLimited } = skipWhere(
  groupProblem(),
  'control groups with a limit of memory, which root may make',
);

/** Weights of a file that takes no room on the disk; it has no numbers but zeros. */
function writeWeights(file: string, bytes: number): void {
  const tensor = { dtype: 'F32', shape: [bytes / 4], data_offsets: [0, bytes] };
  const text = JSON.stringify({ 'classifier.weight': tensor });
  const header = Buffer.from(text.padEnd(8 * Math.ceil(text.length / 8)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(file, Buffer.concat([length, header]));
  truncateSync(file, 8 + header.length + bytes);
}

describeLimited('under a limit of memory', () => {
  const directory = new ModelsDirectory();
  let group: ControlGroup;
  let service: Service;

  beforeAll(async () => {
    group = makeControlGroup(NAME, 'memory', LIMIT);
    directory.text('large', FIRST);
    writeWeights(path.join(directory.path, 'large', 'model.safetensors'), WEIGHTS);
    directory.text('small', FIRST);
    const [program = '', ...args] = [...group.through, process.execPath];
    service = await directory.start({ program, nodeArgs: args, script: MAIN });
  });

  afterAll(async () => {
    await killAll();
    group.remove();
    directory.folder.remove();
  });

  it('refuses what does not fit, with both numbers', async () => {
    const { reason } = (await modelOf(service, 'large')) ?? {};
    const numbers = /^needs about (\d+) MB of memory, (\d+) MB are left of the limit of 600 MB: /;
    const [, needed, left] = numbers.exec(reason ?? '') ?? [];
    expect(reason).toMatch(numbers);
    expect(Number(needed)).toBeGreaterThanOrEqual(WEIGHTS / 1e6);
    expect(Number(left)).toBeGreaterThan(0);
    expect(Number(left)).toBeLessThan(Number(needed));
    expect(service.logs.map(({ msg }) => msg)).toContain(`Model is not loaded: ${reason}`);
  });

  it('serves what fits', async () => {
    expect((await post(service, '/models/small/analyze', TEXT)).status).toBe(200);
  });

  it('loads it in numbers that take less, as far as memory goes', async () => {
    const settings = path.join(directory.path, 'large', 'model.json');
    writeFileSync(settings, '{"dtype": "int8"}');
    const place = '/v2/repository/models/large/load';
    const { status } = await request(service, { method: 'POST', path: place });
    // It is no longer its size that is wrong with it.
    expect(status).toBe(400);
    expect((await modelOf(service, 'large'))?.reason).toMatch(/shape|tensor|classifier/);
  });
});
