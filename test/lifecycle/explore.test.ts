import http from 'node:http';
import { buildFaults, Faults, type FaultyThread } from '../helpers/faults';
import { post } from '../helpers/http';
import { killAll, startService } from '../helpers/service';
import { SERVICE_CASES } from '../helpers/services';
beforeAll(buildFaults);
afterAll(killAll);
const T = (process.env.FT ?? 'inference') as FaultyThread;
it.each(SERVICE_CASES.filter((c) => !process.env.FS || c.name === process.env.FS))('$name', async (c) => {
  const faults = new Faults();
  const service = await startService(c.name, { env: { ...c.options.env, ...faults.env, WORKERS: '1' } });
  const agent = new http.Agent({ keepAlive: true });
  for (let i = 0; i < 3; i++) await post(service, c.path, c.body, { agent });
  const seen: Record<string, number> = {};
  let most = 0;
  const from = Number(process.env.FROM ?? 1);
  const started = Date.now();
  let place = from;
  for (; place < Number(process.env.TO ?? 3000); place++) {
    faults.failAllocation(T, place);
    let answers;
    try {
      answers = await Promise.all([1, 2, 3].map(() => post(service, c.path, c.body, { agent })));
    } catch (e) { console.log('died at', place, e, service.stderr, JSON.stringify(await service.exit)); break; }
    const n = faults.allocations;
    faults.disarm();
    most = Math.max(most, n);
    for (const a of answers) { const k = `${a.status} ${a.status === 200 ? '' : a.text}`; seen[k] = (seen[k] ?? 0) + 1; }
    const next = await post(service, c.path, c.body, { agent });
    if (next.status !== 200) console.log('next', place, next.text);
    if (n < place) break;
  }
  console.log(c.name, T, { place, most, ms: Date.now() - started }, seen);
  service.kill('SIGTERM');
  console.log(await service.exit, service.stderr);
}, 600000);
