/** Programs for Linux on arm64, run by QEMU's user mode, which translates their instructions and system calls. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

const PROGRAMS = ['qemu-aarch64-static', 'qemu-aarch64'];

/** What such programs are linked against; where QEMU_LD_PREFIX names another place, QEMU looks there first. */
const LIBRARIES = ['/lib/ld-linux-aarch64.so.1', '/usr/lib/aarch64-linux-gnu/libstdc++.so.6'];

/** The program that runs those for arm64. Throws an Error that says what is missing. */
export function findEmulator() {
  const emulator = PROGRAMS.find(
    (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
  );
  if (!emulator) throw new Error('there is no qemu-aarch64: apt-get install qemu-user-static');
  const missing = LIBRARIES.filter((file) => !fs.existsSync(file));
  if (missing.length > 0 && !process.env.QEMU_LD_PREFIX) {
    const install =
      'dpkg --add-architecture arm64 && apt-get update && apt-get install libstdc++6:arm64';
    throw new Error(`there is no ${missing.join(', ')}: ${install}`);
  }
  return emulator;
}
