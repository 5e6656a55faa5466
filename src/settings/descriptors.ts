import { readFileSync } from 'node:fs';

/** Where the system does not say: what macOS grants a process at the least. */
const USUAL_LIMIT = 10_240;

/**
 * Descriptors this process may have open. Node has raised the limit to the hard one by now
 * (src/node.cc, `PlatformInit`).
 */
export function descriptorsGranted(limits: string | null = readLimits()): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits ?? '') ?? [];
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft ?? USUAL_LIMIT);
}

function readLimits(): string | null {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return null; // not Linux
  }
}
