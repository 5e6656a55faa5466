'use strict';

const path = require('node:path');

// Makes callbacks of gRPC calls throw an unexpected error if the request id of the call names them: `fault-NAME-NAME.…`.
const dist = path.join(__dirname, '../../../dist/grpc');
const { StreamMessageContext } = require(path.join(dist, 'streams/stream-message-context.js'));
const { GrpcRequestContext } = require(path.join(dist, 'grpc-request-context.js'));
const { GrpcConnections } = require(path.join(dist, 'grpc-connections.js'));

function makeFaulty(prototype, name, contextOf) {
  const own = prototype[name];
  prototype[name] = function faulty(...given) {
    const { requestId } = contextOf(this, given);
    const names = /^fault-([A-Za-z-]+)/.exec(requestId)?.[1]?.split('-') ?? [];
    if (names.includes(name)) throw new RangeError('INTERNAL TEXT /of/the/fault');
    return own.apply(this, given);
  };
}

for (const { prototype } of [StreamMessageContext, GrpcRequestContext]) {
  for (const name of ['receive', 'send', 'sendError', 'end', 'parse']) {
    makeFaulty(prototype, name, (context) => context);
  }
}
for (const name of ['begin', 'beginMessage', 'countChunk', 'received', 'responded']) {
  makeFaulty(GrpcConnections.prototype, name, (_, [context]) => context);
}
