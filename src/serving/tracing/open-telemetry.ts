/** The only file that loads OpenTelemetry, and it is loaded only when spans are exported. */
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
  type Tracer as SpanMaker,
  SpanStatusCode,
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
import type { Traced, Tracer } from './tracer';

/** What its semantic conventions know; another method goes by `_OTHER`. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  ...['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'],
]);

/** A collector that is gone fails every few seconds; the log says so no more often than this. */
const COMPLAINT_INTERVAL_MS = 60_000;

/** Spans over OTLP. The SDK reads its own environment variables: endpoint, headers, sampler … */
export class OpenTelemetryTracer implements Tracer {
  readonly #provider: BasicTracerProvider;
  readonly #spans: SpanMaker;
  readonly #scheme: 'http' | 'https';

  /** @param version of this package */
  constructor({ service, tracing, access }: Config, version: string, logger: Logger) {
    complainTo(logger);
    this.#scheme = access.tlsCertFile === null ? 'http' : 'https';
    const exporter =
      tracing?.protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
    this.#provider = new BasicTracerProvider({
      resource: describeProcess(service, version),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.#spans = this.#provider.getTracer('libtorch-serve', version);
  }

  record(
    exchange: RequestContext,
    outcome: Outcome,
    { durationMs, parent }: Traced,
  ): { traceId: string; spanId: string } {
    const { startedAt, submittedAt, inferences } = exchange;
    const { route, status } = outcome;
    // One offset for all spans of a request, so that they keep their places in one another.
    const toEpochMs = Date.now() - performance.now();
    const at = (ms: number): HrTime => millisToHrTime(ms + toEpochMs);
    const method = KNOWN_METHODS.has(outcome.method) ? outcome.method : 'HTTP';
    const span = this.#spans.startSpan(
      route === null ? method : `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        startTime: at(startedAt),
        attributes: this.#describe(exchange, outcome),
      },
      contextOf(parent, exchange.header('tracestate')),
    );
    if (span.isRecording()) {
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      const inside = trace.setSpan(ROOT_CONTEXT, span);
      for (const { name, start, end } of phasesOf(submittedAt, inferences)) {
        const attributes = name === 'inference' ? describeInference(exchange) : {};
        this.#spans.startSpan(name, { startTime: at(start), attributes }, inside).end(at(end));
      }
      span.end(at(startedAt + durationMs));
    }
    return span.spanContext();
  }

  /** https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server */
  #describe(exchange: RequestContext, outcome: Outcome): Attributes {
    const { method, route, status, isAnswered, httpVersion } = outcome;
    const urlPath = pathOf(exchange, route);
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
    const done = (): boolean => true; // what could not be exported has been complained about
    const isDone = await Promise.race([this.#provider.shutdown().then(done, done), late]);
    timeout.abort();
    return isDone;
  }
}

/** OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME win over what the service says of itself. */
function describeProcess(service: string, version: string): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': `libtorch-serve-${service}`,
        'service.version': version,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}

/** @param tracestate the header, as it came */
function contextOf(parent: TraceContext | null, tracestate: string | undefined): Context {
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
 * The path of a request, as far as no client made it up: that of its route, with the names of a model that was found
 * and of its version. Null: unknown.
 */
function pathOf({ parameters, model: asked }: RequestContext, route: string | null): string | null {
  if (route === null || !route.includes('/:')) return route;
  const { model, version, ...others } = parameters;
  if (asked === null || model === undefined || Object.keys(others).length > 0) return null;
  const parts = { model, version: version ?? '' };
  return route.replaceAll(/\/:(model|version)\b/g, (_, name: keyof typeof parts) => {
    return `/${encodeURIComponent(parts[name])}`;
  });
}

function describeInference({ timings, inferences }: RequestContext): Attributes {
  return {
    'libtorch_serve.inputs': inferences.length,
    ...(timings && {
      'libtorch_serve.batch_size': timings.batchSize,
      'libtorch_serve.tokens': timings.tokens,
      'libtorch_serve.truncated': timings.truncated,
    }),
  };
}

/** The SDK's own warnings, and exports that failed, as log lines. */
function complainTo(logger: Logger): void {
  const ignore = (): void => {};
  const warn = (message: string): void => logger.warn(`OpenTelemetry: ${message}`);
  const diagnostics = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(diagnostics, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  let next = 0;
  setGlobalErrorHandler((error) => {
    if (performance.now() < next) return;
    next = performance.now() + COMPLAINT_INTERVAL_MS;
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn(`Spans could not be exported: ${reason}`);
  });
}
