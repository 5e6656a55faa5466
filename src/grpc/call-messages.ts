import { Duplex } from 'node:stream';
import { ServiceError } from '../serving/errors';
import type { GrpcConnections } from './grpc-connections';
import type { GrpcRequestContext } from './grpc-request-context';
import { MessageReader } from './message-reader';
import { type GrpcRoute, parseMessage } from './routes';
import { OK } from './status';

/** Responses that the client has not taken, from which on no further message is read. */
const MAX_UNSENT = 16;

export function missingMessage(): ServiceError {
  return new ServiceError('METHOD_NOT_ALLOWED', 'The call has no request message.');
}

/**
 * Messages of a call as a Duplex of objects. Ends the call with OK when the writable side ends, or with the error with
 * which it is destroyed.
 */
export function messagesOf(
  call: GrpcRequestContext,
  route: GrpcRoute,
  connections: GrpcConnections,
): Duplex {
  let count = 0;
  let isReading = false;
  const messages = new Duplex({
    objectMode: true,
    read: () => {
      isReading = true;
      reader.advance();
    },
    write: (message: object, _encoding, done) => {
      call.guard(() => {
        call.sendMessage(route.definition.responseSerialize(message), () => {
          done();
          reader.advance();
        });
      });
    },
    final: (done) => {
      call.sendStatus(OK);
      done();
    },
    destroy: (error, done) => {
      if (error) call.fail(error);
      done(null); // the error has been sent to the client
    },
  });
  const reader = new MessageReader(call, {
    isReady: () => isReading && messages.writableLength < MAX_UNSENT,
    onBegin: (prefix) => {
      connections.beginMessage(call, prefix, ++count);
    },
    onChunk: () => connections.countChunk(call),
    onMessage: (bytes) => {
      connections.delivered(call);
      const message = parseMessage(route, bytes);
      if (message instanceof ServiceError) throw message;
      isReading = false;
      messages.push(message);
    },
    onEnd: () => {
      if (count === 0 && !call.hasManyMessages) throw missingMessage();
      connections.received(call);
      messages.push(null);
    },
  });
  return messages;
}
