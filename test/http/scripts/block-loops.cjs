// For `node --require`: blocks the event loop whose number stands behind "block-" in the name of a file of
// BLOCK_FOLDER (0: that of the main thread), for as long as the file is there; "blocked-" says that it is so.
const { existsSync, rmSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { isMainThread, workerData } = require('node:worker_threads');

const loop = isMainThread ? 0 : workerData.loop;
const wish = path.join(process.env.BLOCK_FOLDER, `block-${loop}`);
const reply = path.join(process.env.BLOCK_FOLDER, `blocked-${loop}`);

setInterval(() => {
  if (!existsSync(wish)) return;
  writeFileSync(reply, '');
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (existsSync(wish)) Atomics.wait(never, 0, 0, 10);
  rmSync(reply);
}, 10).unref();
