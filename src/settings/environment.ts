import { coresGranted, type ReadText, readText } from './cores';

/** What this process was given. Defaults depend on it, and relative paths. */
export interface Environment {
  readonly coresGranted: number;
  readonly descriptorsGranted: number;
  /** Absolute folder of package.json. */
  readonly packageRoot: string;
  readonly workingDirectory: string;
  readonly variables: Readonly<NodeJS.ProcessEnv>;
}

/** Where /proc does not say: what a process is given at the least. */
const USUAL_DESCRIPTORS = 10_240;

export function readEnvironment(packageRoot: string): Environment {
  return {
    coresGranted: coresGranted(),
    descriptorsGranted: descriptorsGranted(),
    packageRoot,
    workingDirectory: process.cwd(),
    variables: process.env,
  };
}

/**
 * Descriptors this process may have open. Node has raised the limit to the hard one by now
 * (src/node.cc, `PlatformInit`).
 */
export function descriptorsGranted(read: ReadText = readText): number {
  const limits = read('/proc/self/limits') ?? '';
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? [];
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft ?? USUAL_DESCRIPTORS);
}
