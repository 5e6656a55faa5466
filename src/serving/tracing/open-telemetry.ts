/** Tracer for OpenTelemetry. Loaded only if spans are exported. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  createTraceState,
  DiagLogLevel,
  diag,
  type HrTime,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer as SpanTracer,
  trace,
} from '@opentelemetry/api';
import { millisToHrTime, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import type { Config } from '../../settings/config';
import type { Outcome, RequestContext } from '../request-context';
import { phasesOf } from './phases';
import type { TraceContext } from './trace-context';
import type { Tracer } from './tracer';

/** Methods that the semantic conventions define. Other methods are recorded as `_OTHER`. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  ...['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'],
]);

/** Minimum interval of log lines about failed exports, in ms. */
const WARNING_INTERVAL_MS = 60_000;

/** Exports spans over OTLP. The SDK reads its own environment variables for endpoint, headers and sampler. */
export class OpenTelemetryTracer implements Tracer {
  readonly #provider: BasicTracerProvider;
  readonly #spans: SpanTracer;
  readonly #scheme: 'http' | 'https';

  /** @param version of the package */
  constructor({ service, tracing, access }: Config, version: string, logger: Logger) {
    logWarnings(logger);
    this.#scheme = access.tlsCertFile === null ? 'http' : 'https';
    const exporter =
      tracing?.protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
    this.#provider = new BasicTracerProvider({
      resource: processResource(service, version),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.#spans = this.#provider.getTracer('libtorch-serve', version);
  }

  record(
    context: RequestContext,
    outcome: Outcome,
    { durationMs, parent }: Parameters<Tracer['record']>[2],
  ): ReturnType<Tracer['record']> {
    const { startedAt, submittedAt, inferences } = context;
    const { route, status } = outcome;
    // One offset for all spans of a request, so that child spans stay within their parent.
    const toEpochMs = Date.now() - performance.now();
    const at = (ms: number): HrTime => millisToHrTime(ms + toEpochMs);
    const method = KNOWN_METHODS.has(outcome.method) ? outcome.method : 'HTTP';
    const span = this.#spans.startSpan(
      route === null ? method : `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        startTime: at(startedAt),
        attributes: this.#attributes(context, outcome),
      },
      parentContext(parent, context.header('tracestate')),
    );
    if (span.isRecording()) {
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      const parentSpan = trace.setSpan(ROOT_CONTEXT, span);
      for (const { name, start, end } of phasesOf(submittedAt, inferences)) {
        const attributes = name === 'inference' ? inferenceAttributes(context) : {};
        this.#spans.startSpan(name, { startTime: at(start), attributes }, parentSpan).end(at(end));
      }
      span.end(at(startedAt + durationMs));
    }
    return span.spanContext();
  }

  /** https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server */
  #attributes(context: RequestContext, outcome: Outcome): Attributes {
    const { method, route, status, isAnswered, httpVersion } = outcome;
    const urlPath = pathOf(context, route);
    return {
      'http.request.method': KNOWN_METHODS.has(method) ? method : '_OTHER',
      'url.scheme': this.#scheme,
      'network.protocol.version': httpVersion,
      ...(route !== null && { 'http.route': route }),
      ...(urlPath !== null && { 'url.path': urlPath }),
      ...(isAnswered && { 'http.response.status_code': status }),
      ...(!isAnswered && { 'error.type': 'client_gone' }),
      ...(status >= 500 && { 'error.type': String(status) }),
    };
  }

  async close(timeoutMs: number): Promise<boolean> {
    const timeout = new AbortController();
    const late = delay(timeoutMs, false, timeout).catch(() => false);
    const done = (): boolean => true; // failed exports have been logged
    const isDone = await Promise.race([this.#provider.shutdown().then(done, done), late]);
    timeout.abort();
    return isDone;
  }
}

/** Attributes of the process. OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME take precedence. */
function processResource(service: string, version: string): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': `libtorch-serve-${service}`,
        'service.version': version,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}

/** @param tracestate value of the header */
function parentContext(parent: TraceContext | null, tracestate: string | undefined): Context {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(tracestate && { traceState: createTraceState(tracestate) }),
  });
}

/**
 * Path of a request without data from the client: the path of its route, with the name and the version of the model
 * that was found. Null: unknown.
 */
function pathOf({ parameters, model: found }: RequestContext, route: string | null): string | null {
  if (route === null || !route.includes('/:')) return route;
  const { model, version, ...others } = parameters;
  if (found === null || model === undefined || Object.keys(others).length > 0) return null;
  const parts = { model, version: version ?? '' };
  return route.replaceAll(/\/:(model|version)\b/g, (_, name: keyof typeof parts) => {
    return `/${encodeURIComponent(parts[name])}`;
  });
}

function inferenceAttributes({ timings, inferences }: RequestContext): Attributes {
  return {
    'libtorch_serve.inputs': inferences.length,
    ...(timings && {
      'libtorch_serve.batch_size': timings.batchSize,
      'libtorch_serve.tokens': timings.tokens,
      'libtorch_serve.truncated': timings.truncated,
    }),
  };
}

/** Logs warnings of the SDK and failed exports. */
function logWarnings(logger: Logger): void {
  const ignore = (): void => {};
  const warn = (message: string): void => logger.warn(`OpenTelemetry: ${message}`);
  const diagnostics = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(diagnostics, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  let next = 0;
  setGlobalErrorHandler((error) => {
    if (performance.now() < next) return;
    next = performance.now() + WARNING_INTERVAL_MS;
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn(`Spans could not be exported: ${reason}`);
  });
}
