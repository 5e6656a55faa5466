/**
 * Which of OpenTelemetry's environment variables decide whether spans are exported, and how
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). All others
 * are read by its SDK.
 */
export interface TracingSettings {
  readonly protocol: (typeof PROTOCOLS)[number];
}

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** @returns null: spans are not asked for, or cannot be exported as asked, of which `warn` is told */
export function readTracingSettings(
  environment: Environment,
  warn: (warning: string) => void,
): TracingSettings | null {
  const given = (name: string): string | undefined => environment[name]?.trim() || undefined;
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null;

  const exporters =
    given('OTEL_TRACES_EXPORTER')
      ?.split(',')
      .map((name) => name.trim()) ?? [];
  const unknown = exporters.filter((name) => name !== 'otlp' && name !== 'none');
  if (unknown.length > 0) {
    warn(`OTEL_TRACES_EXPORTER: expected otlp or none, received "${unknown}": it is ignored`);
  }
  const isAskedFor =
    exporters.length > 0
      ? exporters.includes('otlp') && !exporters.includes('none')
      : (given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? given('OTEL_EXPORTER_OTLP_ENDPOINT'));
  if (!isAskedFor) return null;

  const names = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  const name = names.find(given);
  const wanted = name ? given(name) : PROTOCOLS[0];
  const protocol = PROTOCOLS.find((known) => known === wanted);
  if (protocol === undefined) {
    warn(
      `${name}: expected ${PROTOCOLS.join(' or ')}, received "${wanted}": no spans are exported`,
    );
    return null;
  }
  return { protocol };
}
