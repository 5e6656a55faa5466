import http from 'node:http';
import { readGolden } from '../helpers/golden';
import { type Answer, analyze, post, request } from '../helpers/http';
import { normal, seededRandom } from '../helpers/random';
import { EEG_MODEL, killAll, type Service, startService, textModel } from '../helpers/service';

const WORDS = 'good bad film plot the a never quiet dull kind cold again very not it was'.split(
  ' ',
);
const COUNT = 1000;
const TOLERANCE = 1.01e-4; // scores have 4 decimals, and a batch may move the last float32 digit

afterAll(killAll);

interface Scored {
  readonly label: string;
  readonly score: number;
}

/** `count` texts that all differ, of 1 to 30 words. */
function distinctTexts(count: number): readonly string[] {
  const random = seededRandom(11);
  return Array.from({ length: count }, (_, index) => {
    const words = Array.from({ length: Math.ceil(random() * 30) }, () => {
      return WORDS[Math.floor(random() * WORDS.length)];
    });
    return `${words.join(' ')} ${index}`;
  });
}

function expectSameScore(actual: unknown, expected: unknown): void {
  const [first, second] = [actual as Scored, expected as Scored];
  expect(first.label).toBe(second.label);
  expect(Math.abs(first.score - second.score)).toBeLessThan(TOLERANCE);
}

describe('the sentiment service', () => {
  let service: Service;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const ask = (text: string, to = agent): Promise<Answer> => analyze(service, text, { agent: to });

  beforeAll(async () => {
    service = await startService('sentiment', {
      env: { ...textModel('distilbert-two-labels'), LOG_LEVEL: 'info' },
    });
  });

  afterAll(() => agent.destroy());

  it('gives each of 1,000 concurrent requests its own answer, and health meanwhile', async () => {
    const texts = distinctTexts(COUNT);
    // All at once, each on a connection of its own.
    const burst = new http.Agent({ maxSockets: COUNT });
    const waiting = Promise.all(texts.map((text) => ask(text, burst)));
    const healthy = await Promise.all(
      Array.from({ length: 20 }, () => request(service, { path: '/health' })),
    );
    expect(healthy.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const together = await waiting;
    burst.destroy();
    expect(together.map(({ status }) => status)).toEqual(Array(COUNT).fill(200));
    for (let i = 0; i < COUNT; i++) {
      expect(together[i]?.json).toMatchObject({ input_text: texts[i] });
    }
    // Batches were shared, and each answer is the one its text gets alone.
    const batches = service.logs.map(({ batchSize }) => Number(batchSize ?? 0));
    expect(Math.max(...batches)).toBeGreaterThan(1);
    const lone = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; i < COUNT; i += 10) {
      expectSameScore(together[i]?.json, (await ask(texts[i] as string, lone)).json);
    }
    lone.destroy();
  });

  it('gives a text the same answer alone and in 50 random mixes', async () => {
    const { texts } = readGolden('distilbert-two-labels');
    const text = 'The film is a quiet marvel: patient, funny and never cruel.';
    const alone = await ask(text);
    const random = seededRandom(5);
    for (let mix = 0; mix < 50; mix++) {
      const company = Array.from({ length: 1 + Math.floor(random() * 20) }, () => {
        return texts[Math.floor(random() * texts.length)]?.text as string;
      });
      const place = Math.floor(random() * company.length);
      company.splice(place, 0, text);
      const answers = await Promise.all(company.map((one) => ask(one)));
      expectSameScore(answers[place]?.json, alone.json);
    }
  });
});

describe('the EEG service', () => {
  it('gives each of 1,000 concurrent requests its own answer', async () => {
    const service = await startService('eeg', { env: { EEG_MODEL_PATH: EEG_MODEL } });
    const random = seededRandom(3);
    const signals = Array.from({ length: COUNT }, () =>
      Array.from({ length: 256 }, () => normal(random)),
    );
    const agent = new http.Agent({ keepAlive: true, maxSockets: 128 });
    const predict = (index: number) => {
      const body = { signal: signals[index], patient_id: `patient-${index}` };
      return post(service, '/predict', body, { agent });
    };
    const together = await Promise.all(signals.map((_, index) => predict(index)));
    for (let i = 0; i < COUNT; i++) {
      expect(together[i]).toMatchObject({ status: 200, json: { patient_id: `patient-${i}` } });
    }
    const score = (answer: unknown): Scored => {
      const { diagnosis, confidence } = (answer as Answer).json as {
        diagnosis: string;
        confidence: number;
      };
      return { label: diagnosis, score: confidence };
    };
    for (let i = 0; i < COUNT; i += 10)
      expectSameScore(score(together[i]), score(await predict(i)));
    agent.destroy();
  });
});
