/** One process at a time: a file that is there as long as somebody works, and is touched meanwhile. */
import fs from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const TOUCH_MS = 5000;
/** Whose file is older has gone, wherever it ran (a cache may be shared by containers). */
const GONE_MS = 60_000;
const LOOK_MS = 500;

/**
 * Waits until nobody else has the claim, and takes it.
 *
 * @param onWait called once, when there is something to wait for
 * @returns a function that gives it back
 */
export async function claim(file, onWait) {
  let hasWaited = false;
  while (!take(file)) {
    if (isGone(file)) {
      fs.rmSync(file, { force: true });
      continue;
    }
    if (!hasWaited) onWait();
    hasWaited = true;
    await sleep(LOOK_MS);
  }
  const touching = setInterval(() => touch(file), TOUCH_MS);
  touching.unref();
  return () => {
    clearInterval(touching);
    fs.rmSync(file, { force: true });
  };
}

function take(file) {
  try {
    const owner = JSON.stringify({ host: os.hostname(), pid: process.pid });
    fs.writeFileSync(file, owner, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function touch(file) {
  const now = new Date();
  fs.utimes(file, now, now, () => {}); // removed by hand: then there is nothing to touch
}

function isGone(file) {
  try {
    if (Date.now() - fs.statSync(file).mtimeMs > GONE_MS) return true;
    const { host, pid } = JSON.parse(fs.readFileSync(file, 'utf8'));
    // A container that starts again has the old name, and often the old number.
    return host === os.hostname() && (pid === process.pid || !isAlive(pid));
  } catch {
    return false; // just given back, or just being written
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
