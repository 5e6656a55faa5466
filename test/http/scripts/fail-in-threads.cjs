// For `node --require`: an error that nobody catches, in every thread but the main one, on a signal file.
const { existsSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

if (!isMainThread) {
  const look = () => {
    if (existsSync(process.env.FAIL_FILE)) throw new Error('on purpose');
  };
  setInterval(look, 50).unref();
}
