import http from 'node:http';
import { type Address, analyze } from '../helpers/http';
import { needs } from '../helpers/needs';
import { startNginx, stopProxies } from '../helpers/proxies';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { abreast } from '../helpers/times';
import { budgeted, report, SEED } from './budget';
import { Draw } from './draw';
import { type Conversation, converse } from './requests/converse';
import { mutate } from './requests/mutate';
import { attacks, type Ids } from './requests/smuggling';

/** Statuses of requests that come to no route, as /openapi.json describes them, and of the routes here. */
const STATUSES: readonly number[] = [200, 204, 304, 400, 404, 405, 408, 413, 415, 422, 431];
const PATIENCE = { afterAnswer: 300, before: 3000 };
const UNTIL_CLOSED = { afterAnswer: 10_000, before: 10_000 };
const MUTATED = budgeted({ ci: 150, standard: 5000, long: 200_000 });
const ABREAST = 32;
const INNOCENTS = 4;

afterAll(async () => {
  stopProxies();
  await killAll();
});

/** All ids of requests in the service's log that match, once all before now is in it. */
async function loggedIds(service: Service, pattern: RegExp): Promise<ReadonlySet<string>> {
  const id = `last-${Math.random()}`;
  await analyze(service, 'good', { headers: { 'x-request-id': id } });
  await service.lineOf(id);
  // 499: begun, and never whole.
  const lines = service.logs.filter(({ status }) => status !== 499);
  return new Set(
    lines.map(({ requestId }) => String(requestId)).filter((one) => pattern.test(one)),
  );
}

function idsOf({ answers }: Conversation): readonly string[] {
  return answers.map(({ headers }) => headers.get('x-request-id') ?? '');
}

function expectJson({ answers }: Conversation): void {
  for (const { status, headers, body } of answers) {
    expect(STATUSES).toContain(status);
    const isJson = headers.get('content-type') === 'application/json; charset=utf-8';
    const isToHead = status === 200 && body.length === 0;
    if (isJson && !isToHead) JSON.parse(body.toString());
  }
}

/** Clients that ask on connections that they keep, until `stop`, and get nothing but their own answers. */
function innocents(address: Address): { readonly stop: () => Promise<number> } {
  let isOver = false;
  let answered = 0;
  const client = async (name: number): Promise<void> => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    while (!isOver) {
      const text = `innocent ${name} ${answered}`;
      const headers = { 'x-request-id': `innocent-${name}-${answered}` };
      const answer = await analyze(address, text, { agent, headers });
      expect([answer.status, answer.headers['x-request-id'], answer.json]).toEqual([
        200,
        headers['x-request-id'],
        expect.objectContaining({ input_text: text }),
      ]);
      answered++;
    }
    agent.destroy();
  };
  const running = Promise.all(Array.from({ length: INNOCENTS }, (_, name) => client(name)));
  return {
    stop: async () => {
      isOver = true;
      await running;
      return answered;
    },
  };
}

/** Of which no other is made by a change here or there. */
function makeIds(index: number): Ids {
  const code = (Math.imul(index + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
  return { outer: `outer-${code}`, hidden: `hidden-${code}` };
}

function makeMutated(draw: Draw, index: number): Buffer {
  const ids = makeIds(index);
  // Whether an answer has a body, nobody could tell who does not know that its request was a HEAD.
  const whole = attacks(ids).filter(({ name }) => !name.includes('HEAD'));
  return mutate(draw, draw.pick(whole).bytes);
}

describe('a request hidden in another', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService('sentiment', { env: textModel('bert-single-label') });
  });

  it('is not run, and what hides it is refused with 400 and its connection closed', async () => {
    const names = attacks({ outer: '', hidden: '' });
    const seen: object[] = [];
    const expected: object[] = [];
    await abreast(names.length, ABREAST, async (index) => {
      const ids = makeIds(index);
      const { name, bytes, outcome } = attacks(ids)[index] as (typeof names)[0];
      const patience = outcome === 'refused' ? UNTIL_CLOSED : PATIENCE;
      const conversation = await converse(service, bytes, patience);
      expectJson(conversation);
      const { answers, isClosed } = conversation;
      const statuses = answers.map(({ status }) => status);
      if (outcome === 'refused') {
        // Of CONNECT, there is nobody to tell; of headers that are too large, 431.
        const isRefused = answers.length <= 1 && [undefined, 400, 431].includes(statuses[0]);
        seen.push({ name, isRefused, isClosed, statuses });
        expected.push({ name, isRefused: true, isClosed: true, statuses });
      } else {
        seen.push({ name, answers: answers.length, statuses });
        expected.push({ name, answers: outcome === 'one' ? 1 : 2, statuses });
      }
    });
    expect(seen).toEqual(expected);
    const run = await loggedIds(service, /^hidden/);
    const asked = names.flatMap(({ outcome }, i) => (outcome === 'two' ? [makeIds(i).hidden] : []));
    expect([...run].sort()).toEqual(asked.sort());
    report('smuggling, directly', { attacks: names.length });
  });

  it('and changed at random, gets answers to requests that are there, and no others', async () => {
    const draw = new Draw(SEED);
    const bytes = Array.from({ length: MUTATED }, (_, index) => makeMutated(draw, index));
    const statuses: Record<string, number> = {};
    const good = innocents(service);
    await abreast(MUTATED, ABREAST, async (index) => {
      const sent = bytes[index] as Buffer;
      const conversation = await converse(service, sent, { afterAnswer: 30, before: 250 });
      expectJson(conversation);
      for (const { status } of conversation.answers) statuses[status] = (statuses[status] ?? 0) + 1;
      const requests = sent.toString('latin1').split('HTTP/').length;
      expect(conversation.answers.length).toBeLessThanOrEqual(requests + 1);
    });
    const answered = await good.stop();
    expect(service.stderr).toBe('');
    report('smuggling, changed', { seed: SEED, sent: MUTATED, statuses, innocents: answered });
  });
});

needs('nginx').describe('a request hidden in another, behind nginx', () => {
  let service: Service;
  let proxy: Address;

  beforeAll(async () => {
    service = await startService('sentiment', { env: textModel('bert-single-label') });
    proxy = await startNginx([service.port, service.port]);
  });

  it('is run only if nginx has answered it, and nobody else gets its answer', async () => {
    const draw = new Draw(SEED + 1);
    const plain = attacks({ outer: '', hidden: '' }).length;
    const sent = Array.from({ length: plain + MUTATED }, (_, index) =>
      index < plain ? (attacks(makeIds(index))[index]?.bytes as Buffer) : makeMutated(draw, index),
    );
    const owners = new Map(
      sent.flatMap((_, index) => Object.values(makeIds(index)).map((id) => [id, index] as const)),
    );
    const ask = async (index: number, patienceMs: number): Promise<readonly string[]> => {
      const patience = { afterAnswer: patienceMs, before: 3 * patienceMs, mayBeBare: true };
      const ids = idsOf(await converse(proxy, sent[index] as Buffer, patience));
      for (const id of ids) {
        expect(id).not.toMatch(/^innocent/);
        if (owners.has(id)) expect(owners.get(id)).toBe(index);
      }
      return ids;
    };
    const good = innocents(proxy);
    const answered = new Set<string>();
    await abreast(sent.length, ABREAST, async (index) => {
      for (const id of await ask(index, 80)) answered.add(id);
    });
    const innocent = await good.stop();
    const run = await loggedIds(service, /^hidden/);
    // Where the machine was slow, the answer came after the wait for it: asked again, with more of it.
    for (const id of run) {
      const owner = owners.get(id);
      if (answered.has(id) || owner === undefined) continue;
      expect(await ask(owner, 1500)).toContain(id);
    }
    report('smuggling, behind nginx', {
      seed: SEED + 1,
      sent: sent.length,
      hiddenRun: run.size,
      innocents: innocent,
    });
  });
});
