'use strict';

const path = require('node:path');

// A fault that no client should find: what is done with the messages of a gRPC stream throws where the id of its
// call says.
const { MessageExchange } = require(path.join(__dirname, '../../../dist/grpc/streams/message.js'));

for (const place of ['receive', 'send', 'sendError', 'end', 'parse']) {
  const own = MessageExchange.prototype[place];
  MessageExchange.prototype[place] = function faulty(...given) {
    const places = /^fault-([A-Za-z-]+)\./.exec(this.requestId)?.[1]?.split('-') ?? [];
    if (places.includes(place)) throw new RangeError('INTERNAL TEXT /of/the/fault');
    return own.apply(this, given);
  };
}
