/** What is said of the machine that measures. */
import fs from 'node:fs';
import os from 'node:os';

/** Instruction sets that decide which kernels multiply, as /proc/cpuinfo names them. */
const DECISIVE = ['avx2', 'avx512_vnni', 'avx512_bf16', 'amx_tile'];

/** The model and the flags of its instruction sets, of the text of /proc/cpuinfo. */
export function readProcessor(cpuinfo) {
  const entry = (key) => new RegExp(`^${key}\\s*:(.*)$`, 'm').exec(cpuinfo)?.[1].trim();
  const flags = entry('flags') ?? entry('Features') ?? '';
  return {
    cpu: entry('model name') ?? 'unknown processor',
    flags: flags.split(/\s+/).filter((flag) => /^(avx|amx|asimd|sve)/.test(flag)),
  };
}

/**
 * What ratios depend on: two machines of a type may be compared. Model names alone do not tell, for
 * virtual machines have names as short as "AMD EPYC".
 */
export function machineType({ cpu, cores, flags }) {
  const decisive = DECISIVE.filter((name) => flags.includes(name));
  return `${cpu}, ${cores} cores, ${decisive.join(' ') || 'none of our instruction sets'}`;
}

export function describeMachine() {
  return {
    ...readProcessor(fs.readFileSync('/proc/cpuinfo', 'utf8')),
    cores: os.availableParallelism(),
    memory_gb: Math.round(os.totalmem() / 2 ** 30),
    node: process.version,
  };
}
