import path from 'node:path';
import { type Exit, type LogLine, NodeProcess, type ProcessOptions } from '../helpers/service';
import { endOf } from './endings';

const REAPER = path.join(__dirname, 'scripts', 'reaper.py');
const PARENT = path.join(__dirname, 'scripts', 'parent.cjs');

const running = new Set<NodeProcess>();

/** A process whose descendants are seen to end also when they have outlived their parents. Linux. */
export class Family {
  readonly #reaper: NodeProcess;

  private constructor(reaper: NodeProcess) {
    this.#reaper = reaper;
    running.add(reaper);
    void reaper.exit.then(() => running.delete(reaper));
  }

  /** For `afterAll`. */
  static async killAll(): Promise<void> {
    const left = [...running];
    for (const reaper of left) reaper.kill('SIGTERM');
    await Promise.all(left.map(({ exit }) => exit));
  }

  /** Runs `node ARGUMENTS…` as the parent of others. */
  static run(args: readonly string[], options: ProcessOptions = {}): Family {
    const command = [process.execPath, ...args];
    return new Family(
      new NodeProcess({ ...options, program: 'python3', script: REAPER, args: command }),
    );
  }

  /** Runs `node ARGUMENTS…` with a parent that reads what it writes. */
  static runChild(args: readonly string[], options: ProcessOptions = {}): Family {
    return Family.run([PARENT, ...args], options);
  }

  private get logs(): readonly LogLine[] {
    return this.#reaper.logs;
  }

  /** Resolves with the first log line that matches; rejects when any of them ends before it. */
  async waitForLog(matches: (line: LogLine) => boolean): Promise<LogLine> {
    const hasEnded = ({ msg }: LogLine): boolean => msg === 'ended';
    const line = await this.#reaper.waitForLog((each) => matches(each) || hasEnded(each));
    const found = this.logs.find(matches);
    if (!found) throw new Error(`${JSON.stringify(line)} ${this.#reaper.stderr}`);
    return found;
  }

  /** Kills the parent, if it has not ended; resolves when it is gone. */
  async killParent(): Promise<void> {
    const pid = await this.parentPid();
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await this.#reaper.waitForLog((line) => line.msg === 'ended' && line.pid === pid);
  }

  async parentPid(): Promise<number> {
    return (await this.waitForLog(({ msg }) => msg === 'started')).pid as number;
  }

  /** The process that the parent of `runChild` has started. */
  async childPid(): Promise<number> {
    return (await this.waitForLog(({ msg }) => msg === 'child')).pid as number;
  }

  /** How all others ended, once each of them has; `stderr`: what they may have written there. */
  async orphans(stderr: RegExp): Promise<readonly Exit[]> {
    await endOf(this.#reaper);
    expect(this.#reaper.stderr).toMatch(stderr);
    const pid = this.logs.find(({ msg }) => msg === 'started')?.pid;
    return this.logs
      .filter((line) => line.msg === 'ended' && line.pid !== pid)
      .map(({ code, signal }) => ({ code, signal }) as Exit);
  }
}
