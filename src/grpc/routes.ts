import type { Duplex } from 'node:stream';
import type { Server } from '@grpc/grpc-js';
import { loadSync, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { protoPath as HEALTH_PROTO } from 'grpc-health-check';
import type {
  FieldLimit,
  GrpcService,
  MessageHandler,
  StreamMethod,
} from '../protocols/grpc-service';
import { ServiceError } from '../serving/errors';
import type { ModelRoute } from '../serving/request-context';
import { countFields } from './field-count';

export const HEALTH_SERVICE = 'grpc.health.v1.Health';

/** Form of parsed messages: field names as in the protocol file; lists, maps and numbers are always set. */
const LOADING = {
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
} as const;

/** Field limit of health checks and reflection. */
const FEW_FIELDS: FieldLimit = { counted: {}, max: 1000 };

/** Handler of a method, by the form of its request. */
export type RouteHandler =
  | { readonly kind: 'unary'; readonly handle: MessageHandler }
  /** Each message of the stream is a request. */
  | {
      readonly kind: 'requests';
      readonly method: StreamMethod;
      readonly refusal: GrpcService['admissionError'];
    }
  /** The handler reads and writes messages as it likes, until the stream ends. */
  | { readonly kind: 'duplex'; readonly open: (messages: Duplex) => void };

/** A method of a gRPC service. */
export interface GrpcRoute extends ModelRoute {
  /** Path of HTTP/2: `/inference.GRPCInferenceService/ModelInfer`. */
  readonly path: string;
  readonly definition: MethodDefinition<object, object>;
  readonly fields: FieldLimit;
  /** True for probes, which need no API key. */
  readonly isPublic: boolean;
  /** True if the method loads or unloads models. */
  readonly isManagement: boolean;
  /** Null: the method is not implemented. */
  readonly handler: RouteHandler | null;
}

/** All methods by path: those of the services, health checks and reflection. */
export function createRoutes(
  services: readonly GrpcService[],
  healthHandlers: Readonly<Record<string, RouteHandler>>,
): ReadonlyMap<string, GrpcRoute> {
  // One call for all files, since parsing takes a while.
  const files = [...services.map(({ protos }) => protos.file), HEALTH_PROTO];
  const includeDirs = services.map(({ protos }) => protos.folder);
  const loaded = loadSync(files, { ...LOADING, includeDirs });
  const routes = [
    ...services.flatMap((service) =>
      serviceRoutes(service, loaded[service.name] as ServiceDefinition),
    ),
    ...Object.entries(loaded[HEALTH_SERVICE] as ServiceDefinition).map(([name, definition]) =>
      routeOf(definition, { handler: healthHandlers[name] ?? null, isPublic: true }),
    ),
    ...reflectionRoutes(new ReflectionService(loaded)),
  ];
  return new Map(routes.map((route) => [route.path, route]));
}

/** Parses a request message. @returns an error instead of a message if it is invalid or has too many fields */
export function parseMessage({ definition, fields }: GrpcRoute, bytes: Buffer): object {
  if (countFields(bytes, fields.counted, fields.max) > fields.max) {
    return new ServiceError('BODY_INVALID', `message: has over ${fields.max} fields`);
  }
  try {
    return definition.requestDeserialize(bytes);
  } catch {
    return new ServiceError('BODY_INVALID', 'message: is not valid protobuf');
  }
}

function routeOf(
  definition: MethodDefinition<object, object>,
  options: Partial<GrpcRoute> & Pick<GrpcRoute, 'handler'>,
): GrpcRoute {
  return {
    path: definition.path,
    definition,
    fields: FEW_FIELDS,
    isPublic: false,
    isManagement: false,
    admissionError: () => null,
    ...options,
  };
}

function serviceRoutes(service: GrpcService, definitions: ServiceDefinition): readonly GrpcRoute[] {
  const { methods, streams, probes, inferenceMethods, managementMethods, fields, admissionError } =
    service;
  return Object.entries(definitions).map(([name, definition]) => {
    const handle = Object.hasOwn(methods, name) ? methods[name] : undefined;
    const method = Object.hasOwn(streams, name) ? streams[name] : undefined;
    return routeOf(definition, {
      fields,
      isPublic: probes.includes(name),
      isManagement: managementMethods.includes(name),
      ...(inferenceMethods.includes(name) && { admissionError }),
      handler:
        (handle && { kind: 'unary', handle }) ??
        (method && { kind: 'requests', method, refusal: admissionError }) ??
        null,
    });
  });
}

/** Methods of server reflection, which clients such as grpcurl use. */
function reflectionRoutes(reflection: ReflectionService): readonly GrpcRoute[] {
  const routes: GrpcRoute[] = [];
  const addService = (definitions: ServiceDefinition, handlers: Record<string, never>): void => {
    for (const [name, definition] of Object.entries(definitions)) {
      const open = handlers[name] as unknown as (messages: Duplex) => void;
      routes.push(routeOf(definition, { handler: { kind: 'duplex', open } }));
    }
  };
  // The package registers its handlers with a server of grpc-js; `addService` is the only method that it calls.
  reflection.addToServer({ addService } as unknown as Server);
  return routes;
}

/** The parsed message. @throws ServiceError if parsing failed: `parseMessage` returns the error in its place */
export function readable(message: unknown): never {
  if (message instanceof ServiceError) throw message;
  return message as never;
}
