import type { Logger } from 'pino';
import type { Config } from '../../settings/config';
import type { Tracer } from './tracer';

/** Creates the tracer. Null, without loading OpenTelemetry, unless its environment variables enable it. */
export function startTracing(config: Config, version: string, logger: Logger): Tracer | null {
  if (!config.tracing) return null;
  const { OpenTelemetryTracer } = require('./open-telemetry') as typeof import('./open-telemetry');
  return new OpenTelemetryTracer(config, version, logger);
}
