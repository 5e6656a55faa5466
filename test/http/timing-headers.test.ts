import { post } from '../helpers/http';
import { killAll, type Service, startService } from '../helpers/service';
import { SERVICE_CASES } from '../helpers/services';

const TIMES = ['x-queue-time', 'x-tokenization-time', 'x-inference-time'] as const;

afterAll(killAll);

describe.each(SERVICE_CASES)('an answer of $path', ({ name, path, body, refused, options }) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(name, options);
  });

  it('says in its headers what its log line says', async () => {
    const { status, headers } = await post(service, path, body, {
      headers: { 'x-request-id': 'timed' },
    });
    expect(status).toBe(200);
    const line = await service.lineOf('timed');
    expect([...TIMES, 'x-compute-tokens'].map((header) => headers[header])).toEqual(
      [line.queueMs, line.tokenizationMs, line.inferenceMs, line.tokens].map(String),
    );
    for (const header of TIMES) expect(headers[header]).toMatch(/^\d+(\.\d{1,3})?$/);
    expect(Number(headers['x-inference-time'])).toBeGreaterThan(0);
    const total = TIMES.reduce((sum, header) => sum + Number(headers[header]), 0);
    expect(total).toBeLessThanOrEqual(line.durationMs as number);
  });

  it('has no such headers when nothing was computed', async () => {
    const { status, headers } = await post(service, path, refused);
    expect(status).toBe(400);
    for (const header of [...TIMES, 'x-compute-tokens']) expect(headers).not.toHaveProperty(header);
  });
});
