/** What is said of the machine that measures. */
import fs from 'node:fs';
import os from 'node:os';

/** Instruction sets that decide which kernels multiply, as /proc/cpuinfo names them. */
const DECISIVE = ['avx2', 'avx512_vnni', 'avx512_bf16', 'amx_int8'];

/** The model, its family (null where it has none), and the flags of its instruction sets, of the text of /proc/cpuinfo. */
export function readProcessor(cpuinfo) {
  const entry = (key) => new RegExp(`^${key}\\s*:(.*)$`, 'm').exec(cpuinfo)?.[1].trim();
  const flags = entry('flags') ?? entry('Features') ?? '';
  return {
    cpu: entry('model name') ?? 'unknown processor',
    family: entry('cpu family') ?? null,
    flags: flags.split(/\s+/).filter((flag) => /^(avx|amx|asimd|sve)/.test(flag)),
  };
}

/**
 * What ratios depend on: two machines of a type may be compared. Model names alone do not tell, for
 * virtual machines have names as short as "AMD EPYC", which are Zen 3 and 4 (family 25, with and without AVX-512) and
 * Zen 5 (family 26).
 */
export function machineType({ cpu, family, cores, flags, limit }) {
  const decisive = DECISIVE.filter((name) => flags.includes(name));
  const model = family ? `${cpu} family ${family}` : cpu;
  const instructions = decisive.join(' ') || 'none of our instruction sets';
  return `${model}, ${cores} cores, ${instructions}${limit ? `, limited to ${limit}` : ''}`;
}

export function describeMachine() {
  return {
    ...readProcessor(fs.readFileSync('/proc/cpuinfo', 'utf8')),
    ...(process.env.INSTRUCTION_SET ? { limit: process.env.INSTRUCTION_SET } : {}),
    cores: os.availableParallelism(),
    memory_gb: Math.round(os.totalmem() / 2 ** 30),
    node: process.version,
  };
}
