import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const CGROUP_ROOT = '/sys/fs/cgroup';

/** What this process was given. Defaults depend on it, and relative paths. */
export interface Environment {
  readonly availableCores: number;
  readonly maxDescriptors: number;
  /** Absolute folder of package.json. */
  readonly packageRoot: string;
  readonly workingDirectory: string;
  readonly variables: Readonly<NodeJS.ProcessEnv>;
}

/** Where /proc does not say: what a process is given at the least. */
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
 * Descriptors this process may have open. Node has raised the limit to the hard one by now
 * (src/node.cc, `PlatformInit`).
 */
export function readMaxDescriptors(read: ReadText = readText): number {
  const limits = read('/proc/self/limits') ?? '';
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? [];
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft ?? DEFAULT_DESCRIPTORS);
}

/**
 * Cores this process may use: the affinity mask, cut by the control group's CPU quota (a container
 * limited to 2 CPUs on a host with 64 cores still sees all 64).
 */
export function countAvailableCores(): number {
  return limitCores(os.availableParallelism(), readQuotas(readText));
}

/**
 * A part of a core counts as one: of a quota of 1.5, two threads use all and one would leave a quarter
 * (measured; bench/cores.mjs).
 */
export function limitCores(mask: number, quotas: readonly number[]): number {
  return Math.min(mask, Math.ceil(Math.min(...quotas)));
}

export type ReadText = (file: string) => string | null;

/**
 * CPU quotas, in cores, of the process's control group and of all groups above it.
 * Version 2: `cpu.max` holds "<quota µs>|max <period µs>". Version 1: two files with a number each.
 */
export function readQuotas(read: ReadText): readonly number[] {
  return controlGroups('cpu', read).flatMap(({ directory, isVersion2 }) => {
    const text = isVersion2
      ? read(path.join(directory, 'cpu.max'))
      : `${read(path.join(directory, 'cpu.cfs_quota_us'))} ${read(path.join(directory, 'cpu.cfs_period_us'))}`;
    const [quota, period] = (text ?? '').trim().split(/\s+/).map(Number);
    // An unlimited group says "max" (version 2) or -1 (version 1).
    const isLimited = quota !== undefined && period !== undefined && quota > 0 && period > 0;
    return isLimited ? [quota / period] : [];
  });
}

/** Where the files of a group may be; those of version 1 have other names. */
export interface ControlGroup {
  readonly directory: string;
  readonly isVersion2: boolean;
}

/** The process's control groups that a controller (`cpu`, `memory`) may be in, and all above them. */
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

/** "/a/b" → "/a/b", "/a", "/". Inside a container the outer part of the path does not exist. */
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
    return null; // no such control group here: no limit by it
  }
}
