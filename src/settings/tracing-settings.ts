/**
 * Trace export settings from OpenTelemetry's environment variables
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). The OpenTelemetry
 * SDK reads all other variables.
 */
export interface TracingSettings {
  readonly protocol: (typeof PROTOCOLS)[number];
}

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

/**
 * Reads the trace export settings.
 *
 * @param warn called with one message per unsupported value
 * @returns null if tracing is disabled or its protocol is not supported
 */
export function readTracingSettings(
  environment: Readonly<Record<string, string | undefined>>,
  warn: (warning: string) => void,
): TracingSettings | null {
  const variable = (name: string): string | undefined => environment[name]?.trim() || undefined;
  if (variable('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null;

  const exporters = (variable('OTEL_TRACES_EXPORTER')?.split(',') ?? []).map((name) => name.trim());
  const unknown = exporters.filter((name) => name !== 'otlp' && name !== 'none');
  if (unknown.length > 0) {
    warn(`OTEL_TRACES_EXPORTER: expected otlp or none, received "${unknown}", which is ignored`);
  }
  const isEnabled =
    exporters.length > 0
      ? exporters.includes('otlp') && !exporters.includes('none')
      : (variable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? variable('OTEL_EXPORTER_OTLP_ENDPOINT'));
  if (!isEnabled) return null;

  const names = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  const name = names.find(variable);
  const requested = name ? variable(name) : PROTOCOLS[0];
  const protocol = PROTOCOLS.find((supported) => supported === requested);
  if (protocol) return { protocol };
  const expected = PROTOCOLS.join(' or ');
  warn(`${name}: expected ${expected}, received "${requested}". Traces are not exported`);
  return null;
}
