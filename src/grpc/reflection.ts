import type { Server } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { protoPath } from 'grpc-health-check';
import { type GrpcService, LOADING } from './service';

/** Tells clients such as grpcurl which services and messages there are. */
export function addReflection(server: Server, services: readonly GrpcService[]): void {
  const files = [...services.map(({ protos }) => protos.file), protoPath];
  const includeDirs = services.map(({ protos }) => protos.folder);
  new ReflectionService(loadSync(files, { ...LOADING, includeDirs })).addToServer(server);
}
