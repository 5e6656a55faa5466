// Loaded with --require into a service: ends it in the way named by END_BY, END_AFTER_MS after END_FROM:
// its start, or a signal. Worker threads load it, too, and are left alone.
const { isMainThread } = require('node:worker_threads');

const WAYS = {
  'process.exit': () => process.exit(7),
  'uncaught exception': () => {
    throw new Error('thrown by the test');
  },
  'unhandled rejection': () => Promise.reject(new Error('rejected by the test')),
};

const { END_BY, END_FROM, END_AFTER_MS } = process.env;
const endLater = () => setTimeout(WAYS[END_BY], Number(END_AFTER_MS)).unref();
if (isMainThread && END_FROM === 'start') endLater();
else if (isMainThread) process.on(END_FROM, endLater);
