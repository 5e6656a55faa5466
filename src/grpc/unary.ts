import type { Server, ServerUnaryCall, ServiceDefinition, sendUnaryData } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import type { GrpcService } from '../protocols/grpc-service';
import type { Pipeline } from '../serving/pipeline';
import type { Calls } from './calls';
import { readCarefully } from './reading';

/** Offers a service: grpc-js reads the messages of its calls, what follows is the pipeline's. */
export function addService(
  server: Server,
  service: GrpcService,
  loaded: PackageDefinition,
  { calls, pipeline }: { readonly calls: Calls; readonly pipeline: Pipeline },
): void {
  const { name, methods } = service;
  const definition = readCarefully(loaded[name] as ServiceDefinition, service);
  const handlers = Object.entries(methods).map(([method, handle]) => [
    method,
    (call: ServerUnaryCall<never, object>, callback: sendUnaryData<object>) => {
      const exchange = calls.of(call);
      exchange.body = call.request;
      exchange.callback = callback;
      exchange.handle = () => handle(call.request, exchange);
      pipeline.received(exchange);
    },
  ]);
  server.addService(definition, Object.fromEntries(handlers));
}
