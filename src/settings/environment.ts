import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const CGROUP_ROOT = '/sys/fs/cgroup';

/** Resources and variables of this process. Setting defaults and relative paths depend on them. */
export interface Environment {
  readonly availableCores: number;
  readonly maxDescriptors: number;
  /** Absolute path of the folder that contains package.json. */
  readonly packageRoot: string;
  readonly workingDirectory: string;
  readonly variables: Readonly<NodeJS.ProcessEnv>;
}

/** Descriptor limit on systems without /proc. */
const DEFAULT_DESCRIPTORS = 10_240;

export function readEnvironment(packageRoot: string): Environment {
  return {
    availableCores: countAvailableCores(),
    maxDescriptors: readMaxDescriptors(),
    packageRoot,
    workingDirectory: process.cwd(),
    variables: process.env,
  };
}

/**
 * Returns how many file descriptors this process may open. Node has already raised the soft limit to the hard
 * limit (src/node.cc, `PlatformInit`).
 */
export function readMaxDescriptors(read: ReadText = readText): number {
  const limits = read('/proc/self/limits') ?? '';
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? [];
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft ?? DEFAULT_DESCRIPTORS);
}

/**
 * Returns how many cores this process may use: the affinity mask, limited by the CPU quota of the cgroup
 * (a container with 2 CPUs on a host with 64 cores sees 64 cores).
 */
export function countAvailableCores(): number {
  return limitCores(os.availableParallelism(), readQuotas(readText));
}

/**
 * Limits a number of cores to the smallest quota, rounded up: two threads use a quota of 1.5 cores completely,
 * one thread leaves a third unused (measured; bench/cores.mjs).
 */
export function limitCores(mask: number, quotas: readonly number[]): number {
  return Math.min(mask, Math.ceil(Math.min(...quotas)));
}

export type ReadText = (file: string) => string | null;

/**
 * Returns the CPU quotas in cores of the process's cgroup and its ancestors.
 * Version 2: `cpu.max` contains "<quota µs>|max <period µs>". Version 1: one file per number.
 */
export function readQuotas(read: ReadText): readonly number[] {
  return controlGroups('cpu', read).flatMap(({ directory, isVersion2 }) => {
    const text = isVersion2
      ? read(path.join(directory, 'cpu.max'))
      : `${read(path.join(directory, 'cpu.cfs_quota_us'))} ${read(path.join(directory, 'cpu.cfs_period_us'))}`;
    const [quota, period] = (text ?? '').trim().split(/\s+/).map(Number);
    // Unlimited: "max" (version 2) or -1 (version 1).
    const isLimited = quota !== undefined && period !== undefined && quota > 0 && period > 0;
    return isLimited ? [quota / period] : [];
  });
}

/** Folder of a cgroup's files. File names differ between versions 1 and 2. */
export interface ControlGroup {
  readonly directory: string;
  readonly isVersion2: boolean;
}

/** Returns the process's cgroups of a controller (`cpu`, `memory`), and their ancestors. */
export function controlGroups(controller: string, read: ReadText): readonly ControlGroup[] {
  return (read('/proc/self/cgroup') ?? '').split('\n').flatMap((line) => {
    const [, controllers, group] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || group === undefined) return [];
    const isVersion2 = controllers === '';
    if (!isVersion2 && !controllers.split(',').includes(controller)) return [];
    return ancestorsOf(group).map((folder) => ({
      directory: path.join(CGROUP_ROOT, isVersion2 ? '' : controllers, folder),
      isVersion2,
    }));
  });
}

/** "/a/b" → "/a/b", "/a", "/". In a container, the outer folders do not exist. */
function ancestorsOf(group: string): readonly string[] {
  const folders = [group];
  while (folders.at(-1) !== '/' && folders.at(-1) !== '.') {
    folders.push(path.dirname(folders.at(-1) as string));
  }
  return folders;
}

export function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // no such cgroup, hence no limit
  }
}
