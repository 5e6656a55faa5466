'use strict';

// A fault that no client should find: the times of one year cannot be written. Whatever writes one throws in the
// middle of its work, be it for a message, for a window that comes back from the model, or later.
const write = Date.prototype.toISOString;

Date.prototype.toISOString = function toISOString() {
  if (this.getUTCFullYear() === 2001) throw new RangeError('INTERNAL TEXT /of/the/fault');
  return write.call(this);
};
