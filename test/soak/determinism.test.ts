import { readdirSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { EegEngine, type EngineOptions, SentimentEngine } from '../../src/index';
import { addon } from '../../src/native/addon';
import { postRaw } from '../helpers/http';
import { seededRandom } from '../helpers/random';
import { FIXTURES, killAll, ROOT, type Service, startService } from '../helpers/service';
import { abreast } from '../helpers/times';
import { BUDGET, budgeted, report } from './budget';
import type { ServiceName } from './endings';
import { type Asked, makeRequests, makeSignals, makeTexts } from './requests';

afterAll(killAll);

/** An engine of either kind, as far as it matters here. */
interface Engine<Input> {
  classify(input: Input): Promise<{ readonly probabilities: Readonly<Record<string, number>> }>;
  close(): Promise<void>;
}

type Load<Input> = (options: EngineOptions) => Promise<Engine<Input>>;

/** Workers, the most that share a batch, and whether inputs come one at a time. */
const COMPANIES = [
  { workers: 2, maxBatchRequests: 32, alone: true }, // idle cores help
  { workers: 1, maxBatchRequests: 32, alone: false },
  { workers: 2, maxBatchRequests: 32, alone: false },
  { workers: 4, maxBatchRequests: 3, alone: false },
] as const;

/** Of all probabilities, which are float32. */
function bits({ probabilities }: Awaited<ReturnType<Engine<never>['classify']>>): string {
  return Buffer.from(Float32Array.from(Object.values(probabilities)).buffer).toString('hex');
}

function shuffled(count: number, random: () => number): readonly number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    [order[i], order[other]] = [order[other] as number, order[i] as number];
  }
  return order;
}

/** The bits of each input's answer, one after the other, or in company that chance gives it. */
async function answers<Input>(
  engine: Engine<Input>,
  inputs: readonly Input[],
  { alone, random }: { readonly alone: boolean; readonly random: () => number },
): Promise<readonly string[]> {
  const result: string[] = [];
  const one = async (index: number): Promise<void> => {
    result[index] = bits(await engine.classify(inputs[index] as Input));
  };
  if (alone) for (const index of inputs.keys()) await one(index);
  else await Promise.all(shuffled(inputs.length, random).map(one));
  return result;
}

/** Asserts that every input has one answer, to the last bit, in whatever company; `count` answers. */
async function expectSameBits<Input>(
  what: string,
  { load, inputs, count }: { load: Load<Input>; inputs: readonly Input[]; count: number },
): Promise<void> {
  const random = seededRandom(11);
  const reference = await load({ workers: 1, maxBatchRequests: 1 });
  const expected = await answers(reference, inputs, { alone: true, random });
  await reference.close();
  let compared = 0;
  const rounds = Math.ceil(count / inputs.length / COMPANIES.length);
  for (const { alone, ...options } of COMPANIES) {
    const engine = await load({ ...options, maxQueueRequests: 100_000, maxQueueWaitMs: 600_000 });
    for (let round = 0; round < rounds; round++) {
      const given = await answers(engine, inputs, { alone, random });
      const differing = given.flatMap((each, i) => (each === expected[i] ? [] : [i]));
      expect({ what, ...options, alone, round, differing }).toMatchObject({ differing: [] });
      compared += given.length;
    }
    await engine.close();
  }
  report(`determinism, ${what}`, { inputs: inputs.length, answers: compared, differing: 0 });
}

const TEXTS = makeTexts(budgeted({ ci: 16, standard: 500, long: 2000 }), 3);
const SIGNALS = makeSignals(budgeted({ ci: 60, standard: 1000, long: 2000 }), 3);

describe('an answer is the same to the last bit, alone and in any company', () => {
  const dtypes = (['float32', 'int8', 'bfloat16'] as const).filter(
    (dtype) => dtype === 'float32' || addon().dtypeProblem(dtype) === '',
  );

  it.each(dtypes)('of the shipped text model in %s', async (dtype) => {
    const load = (options: EngineOptions) => SentimentEngine.load({ dtype, ...options });
    const count = budgeted({ ci: 64, standard: 10_000, long: 100_000 });
    await expectSameBits(`shipped text model, ${dtype}`, { load, inputs: TEXTS, count });
  });

  it('of the shipped signal model', async () => {
    const load = (options: EngineOptions) => EegEngine.load(options);
    const count = budgeted({ ci: 240, standard: 100_000, long: 1_000_000 });
    await expectSameBits('shipped signal model', { load, inputs: SIGNALS, count });
  });

  const folder = path.join(FIXTURES, 'models');
  // Programs call LibTorch's operators, which sum in other orders for other numbers of rows.
  const encoders = readdirSync(folder).filter((name) => !/^(torchscript|exported)-/.test(name));

  it.each(encoders)('of the text encoder %s', async (name) => {
    const modelDirectory = path.join(folder, name);
    const load = (options: EngineOptions) => SentimentEngine.load({ modelDirectory, ...options });
    const inputs = TEXTS.slice(0, 250);
    const count = budgeted({ ci: 64, standard: 4000, long: 40_000 });
    await expectSameBits(name, { load, inputs, count });
  });
});

/** Bodies of the answers, by the index of the request. */
async function askAll(
  service: Service,
  requests: readonly Asked[],
  { connections, order }: { readonly connections: number; readonly order: readonly number[] },
): Promise<readonly string[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const bodies: string[] = [];
  await abreast(order.length, connections, async (i) => {
    const index = order[i] as number;
    const { path: route, body, status } = requests[index] as Asked;
    const answer = await postRaw(service, route, body, { agent });
    if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`);
    bodies[index] = answer.text;
  });
  agent.destroy();
  return bodies;
}

/** That of a list, by its elements, must be what single requests say. */
function scoresOf(name: ServiceName, body: string): readonly number[] {
  const field = name === 'sentiment' ? 'score' : 'confidence';
  const answer = JSON.parse(body);
  return (answer.results ?? [answer]).map((one: Record<string, number>) => one[field]);
}

describe('a request has one answer, byte for byte', () => {
  const WORKERS = BUDGET === 'ci' ? ['1', '4'] : ['1', '2', '4'];
  const EEG = { EEG_MODEL_PATH: path.join(ROOT, 'models', 'eeg', 'eeg_model.pt') };

  it.each([
    { name: 'sentiment', count: budgeted({ ci: 80, standard: 20_000, long: 100_000 }) },
    { name: 'eeg', count: budgeted({ ci: 160, standard: 100_000, long: 100_000 }) },
  ] as const)(
    '($name) alone, under load, after a restart and with any number of workers',
    async (soak) => {
      const { name, count } = soak;
      const requests = makeRequests(name, budgeted({ ci: 40, standard: 1000, long: 2000 }), 5);
      const random = seededRandom(13);
      const inOrder = [...requests.keys()];
      let expected: readonly string[] | undefined;
      let compared = 0;
      for (const workers of WORKERS) {
        const service = await startService(name, {
          env: { ...EEG, WORKERS: workers },
        });
        service.child.stdout?.removeAllListeners('data').resume();
        expected ??= await askAll(service, requests, { connections: 1, order: inOrder });
        for (let done = 0; done < count / WORKERS.length; done += requests.length) {
          const order = shuffled(requests.length, random);
          const bodies = await askAll(service, requests, { connections: 32, order });
          const differing = inOrder.filter((i) => bodies[i] !== expected?.[i]);
          expect({ name, workers, differing }).toEqual({ name, workers, differing: [] });
          compared += requests.length;
        }
        expect(await service.stop()).toEqual({ code: 0, signal: null });
      }
      expectListsToAgree(name, requests, expected as readonly string[]);
      report(`determinism, ${name} over HTTP`, { answers: compared, differing: 0 });
    },
  );
});

/** Request 7 of each 20 is a list of the inputs 7 to 16, which, but for 7 and 13, came singly too. */
function expectListsToAgree(
  name: ServiceName,
  requests: readonly Asked[],
  bodies: readonly string[],
): void {
  for (let list = 7; list + 10 <= requests.length; list += 20) {
    const scores = scoresOf(name, bodies[list] as string);
    for (const offset of [1, 2, 3, 4, 5, 7, 8, 9]) {
      expect(scores[offset]).toBe(scoresOf(name, bodies[list + offset] as string)[0]);
    }
  }
}
