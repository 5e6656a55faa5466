/** Programs for Linux on arm64, run by QEMU's user mode, which translates their instructions and system calls. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = path.join(path.dirname(fileURLToPath(import.meta.url)), 'emulated.sh');

/** Where Debian puts it; its package may have told the system to run such programs by it, too. */
const EMULATOR = '/usr/bin/qemu-aarch64-static';

/** What such programs are linked against. The first is itself one. */
const LOADER = '/lib/ld-linux-aarch64.so.1';
const LIBRARIES = [LOADER, '/usr/lib/aarch64-linux-gnu/libstdc++.so.6'];

/**
 * The command that runs a program for arm64, which may start others, its own file among them. Empty where
 * the system does. Throws an Error that says what is missing.
 */
export function findRunner() {
  const missing = LIBRARIES.filter((file) => !fs.existsSync(file));
  if (missing.length > 0) {
    const install =
      'dpkg --add-architecture arm64 && apt-get update && apt-get install libstdc++6:arm64';
    throw new Error(`there is no ${missing.join(', ')}: ${install}`);
  }
  if (!problemOf([])) return [];
  if (!fs.existsSync(EMULATOR)) {
    throw new Error(`there is no ${EMULATOR}: apt-get install qemu-user-static`);
  }
  const runner = ['unshare', '--user', '--map-root-user', '--mount', 'sh', SCRIPT, EMULATOR];
  const problem = problemOf(runner);
  if (problem) {
    throw new Error(
      'this system does not run programs for arm64 (binfmt_misc), and to have that for the test alone takes ' +
        `Linux 6.7 and namespaces of users: ${problem}`,
    );
  }
  return runner;
}

/** Why such programs do not run by a command; undefined: they do. */
function problemOf(runner) {
  const [command, ...args] = [...runner, LOADER, '--version'];
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error) return error.message;
  return status === 0 ? undefined : stderr.trim();
}
