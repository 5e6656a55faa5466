import type { ServiceDefinition } from '@grpc/grpc-js';

const sizes = new WeakMap<object, number>();

/** The same service, whose messages `bytesOf` knows. */
export function measured(definition: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      {
        ...method,
        requestDeserialize: (bytes: Buffer) => {
          const message: object = method.requestDeserialize(bytes);
          sizes.set(message, bytes.length);
          return message;
        },
      },
    ]),
  );
}

/** As many bytes as a message had on its way; 0: of a service that is not measured. */
export function bytesOf(message: object): number {
  return sizes.get(message) ?? 0;
}
