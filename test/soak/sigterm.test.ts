import http from 'node:http';
import { post } from '../helpers/http';
import { killAll, type Service, startService } from '../helpers/service';
import { SERVICE_CASES } from '../helpers/services';
import { budgeted, report } from './budget';

const STOPS = budgeted({ ci: 2, standard: 25, long: 250 });
const CLIENTS = 32;

afterAll(killAll);

interface Outcome {
  readonly id: string;
  /** Null: the connection broke before an answer. */
  readonly status: number | null;
}

/** Clients that ask, half of them on a connection that they keep, until they are refused or cut off. */
async function load(service: Service, route: string, body: object): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const client = async (name: number): Promise<void> => {
    const agent = new http.Agent({ keepAlive: name % 2 === 0, maxSockets: 1 });
    for (let i = 0; ; i++) {
      const id = `${name}-${i}`;
      const answer = post(service, route, body, { agent, headers: { 'x-request-id': id } });
      const status = await answer.then(
        (one) => one.status,
        () => null,
      );
      outcomes.push({ id, status });
      if (status === null) break;
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, name) => client(name)));
  return outcomes;
}

it.each(SERVICE_CASES)(
  'SIGTERM under load loses nothing that the $name service accepted',
  async ({ name, path, body, options }) => {
    let [answered, refused, unseen] = [0, 0, 0];
    for (let stop = 0; stop < STOPS; stop++) {
      // At level debug the log has a line for each refusal, too.
      const env = { ...options.env, LOG_LEVEL: 'debug' };
      const service = await startService(name, { ...options, env });
      const loading = load(service, path, body);
      // Under way, and each time at another moment.
      await service.waitForLog(() => service.logs.length > 100 + 10 * (stop % 25));
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      const outcomes = await loading;
      const logged = new Map(service.logs.map(({ requestId, status }) => [requestId, status]));
      // What the service has answered has come to its client, and what it has not seen is what failed.
      const differing = outcomes.filter(({ id, status }) => (logged.get(id) ?? null) !== status);
      expect(differing).toEqual([]);
      const count = (status: number | null) =>
        outcomes.filter((outcome) => outcome.status === status).length;
      expect(count(200) + count(503) + count(null)).toBe(outcomes.length);
      answered += count(200);
      refused += count(503);
      unseen += count(null);
    }
    report(`SIGTERM under load, ${name}`, { stops: STOPS, answered, refused, unseen });
    expect(answered).toBeGreaterThan(STOPS);
  },
);
