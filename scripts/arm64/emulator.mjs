/** Programs for Linux on arm64, run by QEMU's user mode, which translates their instructions and system calls. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = path.dirname(fileURLToPath(import.meta.url));
const SCRIPT = path.join(FOLDER, 'emulated.sh');

/**
 * A processor of many clouds, armv8.2, and what Linux says of one in /proc and /sys, where QEMU's user mode
 * shows this machine's own: LibTorch looks for its processors there, and dies where it finds none of arm64.
 */
const PROCESSOR = ['QEMU_CPU=neoverse-n1', `QEMU_LD_PREFIX=${path.join(FOLDER, 'machine')}`];

/** Where Debian puts it; its package may have told the system to run such programs by it, too. */
const EMULATOR = '/usr/bin/qemu-aarch64-static';

/** What such programs are linked against. The first is itself one. */
const LOADER = '/lib/ld-linux-aarch64.so.1';
const LIBRARIES = [LOADER, '/usr/lib/aarch64-linux-gnu/libstdc++.so.6'];

/**
 * The command that runs a program for arm64, which may start others, its own file among them. Throws an Error that says what is missing.
 */
export function findRunner() {
  const missing = LIBRARIES.filter((file) => !fs.existsSync(file));
  if (missing.length > 0) {
    const install =
      'dpkg --add-architecture arm64 && apt-get update && apt-get install libstdc++6:arm64';
    throw new Error(`there is no ${missing.join(', ')}: ${install}`);
  }
  const bySystem = ['env', ...PROCESSOR];
  if (!problemOf(bySystem)) return bySystem;
  if (!fs.existsSync(EMULATOR)) {
    throw new Error(`there is no ${EMULATOR}: apt-get install qemu-user-static`);
  }
  const namespaces = ['unshare', '--user', '--map-root-user', '--mount'];
  const runner = [...bySystem, ...namespaces, 'sh', SCRIPT, EMULATOR];
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
