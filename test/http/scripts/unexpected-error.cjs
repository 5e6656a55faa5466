/** Preloaded: a response to a request whose id begins with "poisoned" fails as a mistake in the code would. */
const { OutgoingMessage } = require('node:http');

const { setHeader } = OutgoingMessage.prototype;
OutgoingMessage.prototype.setHeader = function (name, value) {
  if (name === 'X-Queue-Time' && String(this.getHeader('X-Request-Id')).startsWith('poisoned')) {
    // As V8 quotes a value: "Cannot use 'in' operator to search for 'x' in TEXT", or the path of a module.
    throw new TypeError(
      "Cannot read properties of undefined (reading 'a secret text')\n    at a secret text (/srv/secret.js:1:1)",
    );
  }
  return setHeader.call(this, name, value);
};
