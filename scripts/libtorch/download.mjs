/** A pinned file, fetched into one that may already hold a part of it. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { shown } from './settings.mjs';

/** How often in a row a download may break off without a byte in between. */
const FUTILE_ATTEMPTS = 5;

/**
 * Fetches what is missing of `target`, and looks at the hash of the whole. A download that broke off is
 * taken up where it ended, now and at the next call.
 *
 * @param pin { file, size, sha256 }
 * @param tools { http, onBytes: called with the bytes that are there, onPause: with a reason }
 * @throws Error; when the hash is another one, `target` has been removed
 */
export async function download(url, target, pin, tools) {
  let attempt = 0;
  for (;;) {
    const before = sizeOf(target);
    if (before >= pin.size) break;
    const reason = await fetchRest(url, target, pin, tools);
    if (reason === undefined) break;
    attempt = sizeOf(target) > before ? 0 : attempt + 1;
    if (attempt >= FUTILE_ATTEMPTS) throw new Error(`${shown(url)}: ${reason}`);
    tools.onPause(reason);
    await sleep(500 * 2 ** attempt);
  }
  await verify(target, pin, shown(url));
}

/** @throws Error when the file is not the pinned one; it has been removed then */
export async function verify(file, pin, source = file) {
  const found = await sha256Of(file);
  if (found === pin.sha256) return;
  fs.rmSync(file);
  throw new Error(
    `${pin.file} is not the pinned one: its SHA-256 is ${found}, expected ${pin.sha256} (${source})`,
  );
}

async function sha256Of(file) {
  const hash = createHash('sha256');
  for await (const chunk of fs.createReadStream(file, { highWaterMark: 1 << 20 }))
    hash.update(chunk);
  return hash.digest('hex');
}

/**
 * @returns undefined when the answer has ended; else why it broke off, and may be asked for again
 * @throws Error when asking again is of no use
 */
async function fetchRest(url, target, pin, { http, onBytes }) {
  const start = sizeOf(target);
  let answer;
  try {
    answer = await http.get(url, start > 0 ? { range: `bytes=${start}-` } : {});
  } catch (error) {
    return error.message;
  }
  if (answer.status >= 500 || answer.status === 429) {
    await answer.body.dump();
    return `it answered ${answer.status}`;
  }
  if (answer.status !== 200 && answer.status !== 206) {
    await answer.body.dump();
    throw new Error(`${shown(url)} answered ${answer.status}`);
  }
  // 200 where a part was asked for: this server has no parts.
  const position = answer.status === 206 ? startOf(answer.headers) : 0;
  if (position > start) throw new Error(`${shown(url)} answered with another part than asked for`);
  return write(answer.body, { target, position, size: pin.size }, onBytes);
}

function startOf(headers) {
  return Number(/^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1] ?? Number.NaN);
}

async function write(body, { target, position, size }, onBytes) {
  const file = await fs.promises.open(target, position === 0 ? 'w' : 'r+');
  let at = position;
  try {
    for await (const chunk of body) {
      if (at + chunk.length > size) {
        at = size; // what is longer than the pinned file is not it: the hash will say so
        break;
      }
      await file.write(chunk, 0, chunk.length, at);
      at += chunk.length;
      onBytes(at);
    }
  } catch (error) {
    if (error.syscall === 'write') throw error; // the disk is full
    return error.message;
  } finally {
    await file.close();
  }
  return at < size ? 'it ended too early' : undefined;
}

function sizeOf(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
