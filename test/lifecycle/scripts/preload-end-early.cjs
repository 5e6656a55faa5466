// Loaded with --require into a service: ends it, in the way named by END_BY, while its JavaScript is
// still being loaded and a thread is opening the addon.
const Module = require('node:module');

const original = Module.prototype.require;
Module.prototype.require = function (id) {
  if (id === 'pino') {
    if (process.env.END_BY === 'exit') process.exit(5);
    throw new Error('thrown by the test');
  }
  return original.call(this, id);
};
