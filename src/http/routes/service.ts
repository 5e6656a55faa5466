import type { Handler } from '../../protocols/endpoint';
import type { Metrics } from '../../serving/metrics/metrics';

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
