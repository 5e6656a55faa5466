import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { request } from '../helpers/http';
import { killAll, type Service, startService } from '../helpers/service';
import { SERVICE_CASES } from '../helpers/services';

const KEY = 'the-key-of-the-openapi-test';
/** Pages and probes. */
const PUBLIC = ['/', '/docs', '/health', '/ready', '/v2/health/live', '/v2/health/ready'];
const HEADERS = { authorization: `Bearer ${KEY}` };

interface Operation {
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly description: string };
  readonly security?: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly securitySchemes?: object };
}

afterAll(killAll);

async function documentOf(service: Service): Promise<Document> {
  const { json } = await request(service, { path: '/openapi.json', headers: HEADERS });
  return json as Document;
}

/** Every `METHOD /path` of a document. */
function operationsOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([route, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ route, method, operation })),
  );
}

describe.each(SERVICE_CASES)('/openapi.json of the $name service', ({ name, options }) => {
  let open: Document;
  beforeAll(async () => {
    const service = await startService(name, options);
    open = await documentOf(service);
    await service.stop();
  });

  it('says nothing of keys where there are none', () => {
    expect(JSON.stringify(open)).not.toMatch(/"401"|"403"|securitySchemes|"security"|Bearer/);
  });

  it.each(['true', 'false'])('says who needs a key, METRICS_REQUIRE_KEY=%s', async (needed) => {
    const env = { ...options.env, API_KEY: KEY, METRICS_REQUIRE_KEY: needed };
    const service = await startService(name, { ...options, env });
    const document = await documentOf(service);

    const script = path.join(__dirname, 'scripts', 'validate-openapi.mjs');
    const input = JSON.stringify(document);
    const result = execFileSync(process.execPath, [script], { input, encoding: 'utf8' });
    expect(JSON.parse(result)).toEqual({ valid: true, version: '3.1' });
    expect(document.components.securitySchemes).toEqual({
      key: { type: 'http', scheme: 'bearer' },
    });
    expect(document.security).toEqual([{ key: [] }]);
    expect(operationsOf(document)).toHaveLength(operationsOf(open).length);

    const asStrangers: string[] = [];
    for (const { route, method, operation } of operationsOf(document)) {
      const { status } = await request(service, { path: route, method: method.toUpperCase() });
      const isOpen = operation.security?.length === 0;
      expect([route, status === 401]).toEqual([route, !isOpen]);
      expect([route, '401' in operation.responses]).toEqual([route, !isOpen]);
      expect([route, '403' in operation.responses]).toEqual([route, !isOpen]);
      if (isOpen) asStrangers.push(route);
      // Everything else of it is as without keys.
      const { 401: _refused, 403: _limited, ...responses } = operation.responses;
      const { security: _security, ...others } = operation;
      expect({ ...others, responses }).toEqual(open.paths[route]?.[method]);
    }
    expect(asStrangers.sort()).toEqual(
      [...PUBLIC, ...(needed === 'true' ? [] : ['/metrics'])].sort(),
    );
    await service.stop();
  });
});
