import { readTracingSettings } from '../../src/settings/tracing-settings';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

function read(environment: Readonly<Record<string, string>>) {
  const warnings: string[] = [];
  return [readTracingSettings(environment, (warning) => warnings.push(warning)), warnings];
}

it.each([
  [ENDPOINT, 'http/protobuf'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/x' }, 'http/protobuf'],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http/protobuf'],
  [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'false' }, 'http/protobuf'],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, 'http/json'],
  [
    {
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    },
    'http/json',
  ],
])('%j asks for spans, by %s', (environment, protocol) => {
  expect(read(environment)).toEqual([{ protocol }, []]);
});

it.each([
  [{}],
  [{ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '  ' }],
  [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
  [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'True' }],
  [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:4318/x' }],
])('%j asks for none', (environment) => {
  expect(read(environment)).toEqual([null, []]);
});

it.each([
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /^OTEL_EXPORTER_OTLP_PROTOCOL: .*"grpc"/],
  [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'zipkin' }, /^OTEL_TRACES_EXPORTER: .*"zipkin"/],
])('%j is not supported, and says so', (environment, warning) => {
  expect(read(environment)).toEqual([null, [expect.stringMatching(warning)]]);
});
