import type { Server, ServerUnaryCall, ServiceDefinition, sendUnaryData } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { toServiceError } from '../http/middleware/answer-errors';
import type { GrpcService, Method } from '../protocols/grpc-service';
import { roundMs } from '../serving/timings';
import type { Turns } from '../serving/turns';
import type { Calls } from './calls';
import { readCarefully, Unreadable } from './reading';
import type { TrackedCall } from './tracked-call';

interface Surroundings {
  readonly turns: Turns;
  readonly limits: { readonly bodyLimit: number };
}

/** Offers a service: each of its calls waits for its turn, and every error becomes a status. */
export function addService(
  server: Server,
  service: GrpcService,
  calls: Calls,
  surroundings: Surroundings & { readonly loaded: PackageDefinition },
): void {
  const { name, methods } = service;
  const definition = readCarefully(surroundings.loaded[name] as ServiceDefinition, service);
  const handlers = Object.entries(methods).map(([method, handle]) => [
    method,
    (call: ServerUnaryCall<never, object>, callback: sendUnaryData<object>) => {
      const tracked = calls.of(call);
      surroundings.turns.begin(
        () => void answer(tracked, { handle, message: call.request }, surroundings, callback),
      );
    },
  ]);
  server.addService(definition, Object.fromEntries(handlers));
}

interface Asked {
  readonly handle: Method;
  readonly message: object;
}

async function answer(
  call: TrackedCall,
  { handle, message }: Asked,
  { limits }: Surroundings,
  callback: sendUnaryData<object>,
): Promise<void> {
  if (call.isOver) return; // the client has gone
  try {
    if (message instanceof Unreadable) throw message.error;
    call.body = message;
    const { body, inferences } = await handle(message as never, call);
    if (inferences) call.note(inferences);
    callback(null, body);
  } catch (raised) {
    const error = toServiceError(raised, { ...limits, timeoutMs: roundMs(call.timeoutMs) });
    callback(call.fail(error, raised));
  }
}
