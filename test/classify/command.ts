import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { FIXTURES, MAIN } from '../helpers/service';

/** A model of a few thousand weights: tens of thousands of texts a second. */
export const TINY = path.join(FIXTURES, 'models', 'bert-single-label');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads; 'open': the pipe is left open. */
  readonly stdin?: Buffer | 'open';
  /** Called with the process, to be done with as a test likes. */
  readonly onStart?: (child: ChildProcess) => void;
}

/** `libtorch-serve classify` in a process of its own, with the tiny model. */
export function classify(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  return overFiles(['classify', ...args], options);
}

/** A command over files in a process of its own. */
export function overFiles(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, SENTIMENT_MODEL_DIR: TINY, ...options.env },
  });
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (block: Buffer) => stdout.push(block));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {}); // it may end before it has read all
  if (options.stdin !== 'open') child.stdin.end(options.stdin ?? '');
  options.onStart?.(child);
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr });
    });
  });
}

/** A folder that goes with the test file. */
export function temporaryFolder(): { readonly path: string; readonly remove: () => void } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'classify-'));
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Objects as lines of JSON. */
export function jsonLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
