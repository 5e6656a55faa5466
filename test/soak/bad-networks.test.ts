import { type ChildProcess, spawn } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, analyze } from '../helpers/http';
import { type Scrape, scrape, untilAlone } from '../helpers/metrics';
import { killAll, ROOT, type Service, startService, textModel } from '../helpers/service';
import { until } from '../helpers/until';
import { BUDGET, budgeted, report } from './budget';

const SECONDS = budgeted({ ci: 2, standard: 60, long: 1800 });
const ALL_KINDS = [
  'silent',
  'slow-headers',
  'slow-bodies',
  'slow-readers',
  'pipelining',
  'killed-in-body',
  'no-http',
];
/** test/http/network.test.ts has one of each in small. */
const KINDS = BUDGET === 'ci' ? ['silent', 'slow-bodies'] : ALL_KINDS;
/** Of the service; what it takes is 100 fewer. */
const DESCRIPTORS = 256;
const BAD_CLIENTS = 400;
const GOOD_CLIENTS = 4;
const BODY_MEMORY = 16 * 1024 ** 2;
/**
 * Resident memory that may be added: what is held of bodies, compressed bodies and answers; as much
 * again for garbage that is not collected yet; and what a first load of any kind adds.
 */
const MEMORY_ADDED = 2 * 3 * BODY_MEMORY + 100 * 1024 ** 2;

const attacks = new Set<ChildProcess>();

afterAll(async () => {
  for (const attack of attacks) attack.kill('SIGTERM');
  await killAll();
});

/** Resolves when it is at it. */
async function startAttack(kind: string, { port }: Service): Promise<ChildProcess> {
  const script = path.join(ROOT, 'bench', 'attacks.mjs');
  const args = [script, kind, '--port', String(port), '--count', String(BAD_CLIENTS)];
  const attack = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  attacks.add(attack);
  await new Promise((resolve) => attack.stdout?.once('data', resolve));
  return attack;
}

/** Tells it to stop; resolves with what it did. */
async function stopAttack(attack: ChildProcess): Promise<Readonly<Record<string, number>>> {
  let text = '';
  attack.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise((resolve) => attack.on('close', resolve));
  attack.kill('SIGTERM');
  await ended;
  attacks.delete(attack);
  return JSON.parse(text) as Record<string, number>;
}

/** Asks again where a connection that was kept has been closed meanwhile (RFC 9112, 9.3.1). */
async function ask(service: Service, agent: http.Agent | undefined): Promise<Answer> {
  const once = () => analyze(service, 'good film', agent && { agent });
  return agent ? once().catch(once) : once();
}

/** Statuses that good clients got, half of them on connections that they keep, until `isOver`. */
async function goodClients(service: Service, isOver: () => boolean): Promise<readonly string[]> {
  const statuses: string[] = [];
  const client = async (name: number): Promise<void> => {
    const agent = name % 2 === 0 ? new http.Agent({ keepAlive: true, maxSockets: 1 }) : undefined;
    while (!isOver()) {
      const status = await ask(service, agent).then(
        (answer) => String(answer.status),
        (error: Error) => error.message,
      );
      statuses.push(status);
    }
    agent?.destroy();
  };
  await Promise.all(Array.from({ length: GOOD_CLIENTS }, (_, name) => client(name)));
  return statuses;
}

/** One look at the service; again where the connection for it made room for another. */
function look(service: Service): Promise<Scrape> {
  return until('an answer of /metrics', () => scrape(service).catch(() => null));
}

it.each(KINDS)('%s: good clients are answered, memory and sockets are bounded', async (kind) => {
  const service = await startService('sentiment', {
    env: { ...textModel('bert-single-label'), BODY_MEMORY: String(BODY_MEMORY) },
    descriptors: DESCRIPTORS,
  });
  const memoryOf = (seen: Scrape) => seen.value('process_resident_memory_bytes') ?? 0;
  const before = memoryOf(await look(service));
  const attack = await startAttack(kind, service);
  const end = performance.now() + SECONDS * 1000;
  let [isOver, most, connections] = [false, before, 0];
  const good = goodClients(service, () => isOver);
  do {
    const seen = await look(service);
    most = Math.max(most, memoryOf(seen));
    connections = Math.max(connections, seen.value('libtorch_serve_http_connections') ?? 0);
    await sleep(50);
  } while (performance.now() < end);
  isOver = true;
  const statuses = await good;
  const done = await stopAttack(attack);
  await untilAlone(service, look);
  report(`bad clients, ${kind}`, {
    seconds: SECONDS,
    answered: statuses.length,
    opened: done.opened,
    mostConnections: connections,
    memoryAddedMb: Math.round((most - before) / 1024 ** 2),
  });
  expect(statuses.filter((status) => status !== '200')).toEqual([]);
  expect(statuses.length).toBeGreaterThan(0);
  expect(connections).toBeLessThanOrEqual(DESCRIPTORS - 100);
  expect(most - before).toBeLessThan(MEMORY_ADDED);
  expect((await look(service)).value('libtorch_serve_http_requests_in_flight')).toBe(1);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});
