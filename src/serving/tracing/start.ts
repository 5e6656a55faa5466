import type { Logger } from 'pino';
import type { Config } from '../../settings/config';
import type { Tracer } from './tracer';

/** Null, and nothing of OpenTelemetry is loaded, unless its environment variables ask for spans. */
export function startTracing(config: Config, version: string, logger: Logger): Tracer | null {
  if (!config.tracing) return null;
  const { OpenTelemetryTracer } = require('./open-telemetry') as typeof import('./open-telemetry');
  return new OpenTelemetryTracer(config, version, logger);
}
