'use strict';

const path = require('node:path');

// Makes callbacks of gRPC calls throw an unexpected error if the request id of the call names them: `fault-NAME-NAME.…`.
const dist = path.join(__dirname, '../../../dist/grpc');
const { StreamMessageContext } = require(path.join(dist, 'streams/stream-message-context.js'));
const { GrpcRequestContext } = require(path.join(dist, 'grpc-request-context.js'));
const routes = require(path.join(dist, 'routes.js'));
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
  for (const name of ['send', 'sendError', 'end']) {
    makeFaulty(prototype, name, (context) => context);
  }
}
for (const name of ['begin', 'beginMessage', 'countChunk', 'received', 'responded']) {
  makeFaulty(GrpcConnections.prototype, name, (_, [context]) => context);
}

// A message has no request id while it is parsed: its text names the fault.
const { parseMessage } = routes;
routes.parseMessage = function faulty(route, bytes) {
  if (bytes.includes('fault-parse')) throw new RangeError('INTERNAL TEXT /of/the/fault');
  return parseMessage(route, bytes);
};
