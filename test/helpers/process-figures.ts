import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What a process holds. Linux. */
export interface Figures {
  /** Memory that is no file's, and all that is resident, MB. */
  readonly anonymousMb: number;
  readonly residentMb: number;
  readonly threads: number;
  readonly descriptors: number;
}

export function figuresOf(pid: number): Figures {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return {
    anonymousMb: field('RssAnon') / 1024,
    residentMb: field('VmRSS') / 1024,
    threads: readdirSync(`/proc/${pid}/task`).length,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Files that a process maps though their names are gone, each as often as it is mapped. */
export function deletedMaps(pid: number): readonly string[] {
  return mapsOf(pid).filter((file) => file.endsWith(' (deleted)'));
}

/** Files of weights that a process maps, each as often as it is mapped. */
export function weightMaps(pid: number): readonly string[] {
  return mapsOf(pid).filter((file) => /\.(safetensors|bin|pt|pt2)\b/.test(file));
}

function mapsOf(pid: number): readonly string[] {
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
  return [...maps.matchAll(/ (\/.*)$/gm)].map(([, file = '']) => file);
}

/** Time that the thread of the event loop has run on a processor, ms. */
export function eventLoopCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8');
  return Number(stat.split(' ')[0]) / 1e6;
}

/** Time that threads of these names have run on a processor, ms. */
export function threadCpuMs(pid: number, names: readonly string[]): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks)
    .filter((id) => names.includes(readFileSync(`${tasks}/${id}/comm`, 'utf8').trim()))
    .map((id) => Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
    .reduce((sum, ms) => sum + ms, 0);
}

export function held({ threads, descriptors }: Figures): object {
  return { threads, descriptors };
}

export function countSockets(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => isSocket(`/proc/${pid}/fd/${fd}`)).length;
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:');
  } catch {
    return false; // closed meanwhile
  }
}

/**
 * The median of the slopes between all pairs of points (Theil and Sen): some outliers, as a garbage
 * collection that is due or has just been, do not move it.
 */
export function medianSlope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points
    .flatMap(([x, y], i) => points.slice(i + 1).map(([x2, y2]) => (y2 - y) / (x2 - x)))
    .sort((a, b) => a - b);
  const middle = slopes.length >> 1;
  return slopes.length % 2 === 1
    ? (slopes[middle] as number)
    : ((slopes[middle - 1] as number) + (slopes[middle] as number)) / 2;
}
