import type { ServiceDefinition } from '@grpc/grpc-js';
import type { GrpcService } from '../protocols/grpc-service';
import { ServiceError } from '../serving/errors';
import { countFields } from './field-count';

const sizes = new WeakMap<object, number>();

/** In the place of a message that cannot be read: grpc-js itself would not say what is wrong. */
export class Unreadable {
  readonly error: ServiceError;

  constructor(problem: string) {
    this.error = new ServiceError('BODY_INVALID', `message: ${problem}`);
  }
}

/**
 * The same service, whose messages are looked at before they are read, and left unread where nobody is
 * there for them. What cannot be read comes as `Unreadable`.
 */
export function readCarefully(
  definition: ServiceDefinition,
  { methods, streams, fields }: GrpcService,
): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      {
        ...method,
        requestDeserialize: (bytes: Buffer) =>
          Object.hasOwn(methods, name) || Object.hasOwn(streams, name)
            ? read(bytes, method.requestDeserialize, fields)
            : {},
        responseSerialize: (answer: object) => {
          if (Buffer.isBuffer(answer)) return answer; // of a stream, which has written it already
          const bytes = method.responseSerialize(answer);
          sizes.set(answer, bytes.length);
          return bytes;
        },
      },
    ]),
  );
}

/** Of an answer that has been written; 0: of a service that is not read carefully. */
export function bytesOf(answer: object): number {
  return sizes.get(answer) ?? 0;
}

function read(
  bytes: Buffer,
  deserialize: (bytes: Buffer) => object,
  { counted, most }: GrpcService['fields'],
): object {
  if (countFields(bytes, counted, most) > most) return new Unreadable(`has over ${most} fields`);
  try {
    return deserialize(bytes);
  } catch {
    return new Unreadable('is not valid protobuf');
  }
}
