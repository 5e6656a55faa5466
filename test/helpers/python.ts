import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './service';

export const INSTALL_MS = 600_000;

export const runFile = promisify(execFile);

/** Installs pinned packages into build/, once, and returns the folder, for PYTHONPATH. */
export async function installPython(name: string, requirements: string): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const target = path.join(ROOT, 'build', `${name}-${hash}`);
  if (existsSync(target)) return target;
  const partial = `${target}.${process.pid}.partial`; // another test may install it, too
  rmSync(partial, { recursive: true, force: true });
  // The file names all that is needed, as hashes must be there for each.
  const pip = ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--no-deps'];
  const args = [...pip, '--only-binary=:all:', '--target', partial, '--requirement', requirements];
  await runFile('python3', args, { timeout: INSTALL_MS });
  try {
    renameSync(partial, target); // only when it is whole
  } catch (error) {
    if (!existsSync(target)) throw error;
    rmSync(partial, { recursive: true });
  }
  return target;
}
