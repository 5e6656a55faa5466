import type { Handler } from '../../protocols/endpoint';
import type { ServiceInfo } from '../../protocols/own/schemas/answers';
import type { Protocol } from '../../protocols/protocol';
import type { Metrics } from '../../serving/metrics/metrics';

/** GET /health. It waits for nothing, so it answers while the process responds at all. */
export function health(modelLoaded: boolean): Handler {
  const body = { status: 'healthy', model_loaded: modelLoaded };
  return () => ({ body });
}

/** GET /ready: whether requests should be sent here. */
export const ready: Handler = ({ readiness }) => {
  const problem = readiness();
  if (problem) throw problem;
  return { body: { ready: true } };
};

/**
 * GET /info: what is served, and within which limits. None of it changes while the process runs.
 *
 * @param protocols may have fields of their own there, beside those of the service
 */
export function info(own: ServiceInfo, protocols: readonly Protocol[]): Handler {
  const body = Object.assign({}, own, ...protocols.map((protocol) => protocol.info?.fields), own);
  return () => ({ body });
}

/** GET /metrics, in the text format of Prometheus. */
export function metrics({ contentType, expose }: Metrics): Handler {
  const headers = { 'Content-Type': contentType };
  return async () => ({ body: Buffer.from(await expose()), headers });
}

/** GET /openapi.json. The document is made when it is first asked for. */
export function openapi(describe: () => object): Handler {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  let body: Buffer | undefined;
  return () => {
    body ??= Buffer.from(JSON.stringify(describe()));
    return { body, headers };
  };
}
