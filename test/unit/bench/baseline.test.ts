/** The comparison of `npm run bench` with what is stored, without the measurement before it. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../helpers/service';

interface Machine {
  readonly cpu: string;
  readonly family: string | null;
  readonly cores: number;
  readonly flags: readonly string[];
  readonly limit?: string;
}

interface Baseline {
  readonly allowed_fall: number;
  readonly services: Readonly<
    Record<string, readonly { machine: string; ratios: Readonly<Record<string, number>> }[]>
  >;
}

/** Calls a function of the benchmarks, which are ES modules, in a process of its own. */
function call<Result>(file: string, name: string, ...args: readonly unknown[]): Result {
  const url = pathToFileURL(path.join(ROOT, 'bench', file)).href;
  const script = `
    import fs from 'node:fs';
    import * as module from ${JSON.stringify(url)};
    const args = JSON.parse(fs.readFileSync(0, 'utf8'));
    console.log(JSON.stringify(module[${JSON.stringify(name)}](...args)));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    input: JSON.stringify(args),
    encoding: 'utf8',
  });
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(run.stdout) as Result;
}

const OLD: Machine = { cpu: 'AMD EPYC', family: '25', cores: 2, flags: ['avx', 'avx2'] };
const NEW: Machine = { ...OLD, flags: [...OLD.flags, 'avx512f', 'avx512_vnni', 'avx512_bf16'] };
const BASELINE: Baseline = {
  allowed_fall: 0.2,
  services: {
    sentiment: [{ machine: 'AMD EPYC family 25, 2 cores, avx2', ratios: { 8: 5, 64: 7.5 } }],
  },
};

const summaryOf = (...ratios: readonly [clients: number, ratio: number][]) => ({
  ratios: [
    { peer: 'node-ort', clients: 64, rps: { median: 0.1 } },
    ...ratios.map(([clients, ratio]) => ({ peer: 'fastapi', clients, rps: { median: ratio } })),
  ],
});

const compare = (machine: Machine, ...ratios: readonly [number, number][]) =>
  call<{ lines: string[]; fallen: boolean }>('baseline.mjs', 'compare', BASELINE, {
    service: 'sentiment',
    summary: summaryOf(...ratios),
    machine,
  });

describe('a run on a type of machine that ratios are stored for', () => {
  it('has fallen where one is further below than allowed', () => {
    expect(compare(OLD, [8, 4.1], [64, 5.9])).toEqual({
      lines: [
        '8 clients: 4.1 × fastapi, stored 5: within noise',
        'REGRESSION: 64 clients: 5.9 × fastapi, stored 7.5: more than 20 % below',
      ],
      fallen: true,
    });
  });

  it('has not where all are near or above; a level that nothing is stored for is no fall', () => {
    expect(compare(OLD, [1, 0.5], [8, 4.1], [64, 9.5])).toEqual({
      lines: [
        '1 clients: 0.5 × fastapi, none stored for this type of machine',
        '8 clients: 4.1 × fastapi, stored 5: within noise',
        '64 clients: 9.5 × fastapi, stored 7.5: better (--store keeps it)',
      ],
      fallen: false,
    });
  });

  it('is not compared where the reference was not measured', () => {
    expect(compare(OLD)).toEqual({
      lines: ['not compared: fastapi was not measured'],
      fallen: false,
    });
  });
});

it('a run on another type of machine is no regression, however low it is', () => {
  for (const machine of [
    NEW,
    { ...OLD, cores: 4 },
    { ...OLD, cpu: 'AMD EPYC 7763' },
    { ...OLD, family: '26' },
  ]) {
    const { lines, fallen } = compare(machine, [64, 0.5]);
    expect(fallen).toBe(false);
    expect(lines[0]).toBe('64 clients: 0.5 × fastapi, none stored for this type of machine');
    expect(lines[1]).toMatch(
      /^nothing is stored for AMD EPYC.+; there is for: AMD EPYC family 25, 2 cores, avx2$/,
    );
  }
});

it('a run beside several peers is compared with what is stored against the best of them', () => {
  const cell = 'sentence, 8 clients, int8';
  const summary = { ratios: [], best: [{ cell, rps: { peer: 'openvino-int8', median: 1.1 } }] };
  const stored = { machine: 'AMD EPYC family 25, 2 cores, avx2', ratios: { [cell]: 1.5 } };
  const baseline = { allowed_fall: 0.2, services: { embedding: [stored] } };
  const run = { service: 'embedding', summary, machine: OLD };
  expect(call('baseline.mjs', 'compare', baseline, run)).toEqual({
    lines: [`REGRESSION: ${cell}: 1.1 × the best peer, stored 1.5: more than 20 % below`],
    fallen: true,
  });
  const { services } = call<Baseline>('baseline.mjs', 'withStored', BASELINE, run);
  expect(services.embedding).toEqual([{ ...stored, ratios: { [cell]: 1.1 } }]);
});

describe('storing', () => {
  const store = (baseline: Baseline, machine: Machine, ...ratios: readonly [number, number][]) =>
    call<Baseline>('baseline.mjs', 'withStored', baseline, {
      service: 'sentiment',
      summary: summaryOf(...ratios),
      machine,
    });

  it('keeps what other types of machine and other levels have', () => {
    const both = store(BASELINE, NEW, [64, 6]);
    expect(both.services.sentiment).toEqual([
      { machine: 'AMD EPYC family 25, 2 cores, avx2', ratios: { 8: 5, 64: 7.5 } },
      { machine: 'AMD EPYC family 25, 2 cores, avx2 avx512_vnni avx512_bf16', ratios: { 64: 6 } },
    ]);
    expect(store(both, OLD, [64, 8]).services.sentiment).toEqual([
      { machine: 'AMD EPYC family 25, 2 cores, avx2 avx512_vnni avx512_bf16', ratios: { 64: 6 } },
      { machine: 'AMD EPYC family 25, 2 cores, avx2', ratios: { 8: 5, 64: 8 } },
    ]);
  });
});

describe('the type of a machine', () => {
  const processor = (cpuinfo: string) =>
    call<Pick<Machine, 'cpu' | 'family' | 'flags'>>('machine.mjs', 'readProcessor', cpuinfo);
  const type = (machine: Machine) => call<string>('machine.mjs', 'machineType', machine);

  it('is the model and its family, its cores, and the instruction sets that kernels are chosen by', () => {
    const read = processor(
      'processor\t: 0\ncpu family\t: 6\nmodel name\t: Intel(R) Xeon(R) Processor\n' +
        'flags\t\t: fpu avx avx2 avx512f avx512_bf16 avx512_vnni rdpid\n',
    );
    expect(read.cpu).toBe('Intel(R) Xeon(R) Processor');
    expect(type({ ...read, cores: 2 })).toBe(
      'Intel(R) Xeon(R) Processor family 6, 2 cores, avx2 avx512_vnni avx512_bf16',
    );
    expect(type({ ...read, cores: 2, limit: 'avx2' })).toMatch(/ avx512_bf16, limited to avx2$/);
    // What decides nothing makes no other type.
    expect(type({ ...read, cores: 2, flags: [...read.flags, 'avx_vnni'] })).toBe(
      type({ ...read, cores: 2 }),
    );
  });

  it('is known where /proc/cpuinfo has other words', () => {
    const read = processor('processor\t: 0\nFeatures\t: fp asimd evtstrm sve\n');
    expect(read.flags).toEqual(['asimd', 'sve']);
    expect(type({ ...read, cores: 4 })).toBe(
      'unknown processor, 4 cores, none of our instruction sets',
    );
  });
});
