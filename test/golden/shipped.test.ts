import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { type GoldenTexts, readFixture } from '../helpers/golden';
import { type Answer, post } from '../helpers/http';
import { killAll, ROOT, type Service, startService } from '../helpers/service';

/** Half a unit of the fourth decimal, and what a probability may differ from the reference. */
const TOLERANCE = 0.5e-4 + 1e-5;

interface GoldenWindows {
  readonly windows: readonly {
    readonly signal: readonly number[];
    readonly probabilities: readonly number[];
  }[];
}

const CLASSES = ['Control', "Alzheimer's Disease (AD)", 'Frontotemporal Dementia (FTD)'];

afterAll(killAll);

/** All at once, over a few connections. */
async function postAll(
  service: Service,
  endpoint: string,
  bodies: readonly object[],
): Promise<readonly Answer[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  const answers = await Promise.all(bodies.map((body) => post(service, endpoint, body, { agent })));
  agent.destroy();
  return answers;
}

it('the shipped sentiment model answers as the transformers pipeline, from any directory', async () => {
  const { texts } = readFixture<GoldenTexts>('shipped-sentiment.json');
  const service = await startService('sentiment', { cwd: os.tmpdir() });
  const bodies = texts.map(({ text }) => ({ text }));
  const answers = await postAll(service, '/analyze', bodies);
  for (const [i, { text, label, score, truncated }] of texts.entries()) {
    const { status, json, headers } = answers[i] as Answer;
    expect({ status, json }).toEqual({
      status: 200,
      json: { input_text: text, label, score: expect.any(Number) },
    });
    expect(Math.abs((json as { score: number }).score - score)).toBeLessThanOrEqual(TOLERANCE);
    expect(headers['x-input-truncated']).toBe(truncated ? 'true' : undefined);
  }
  await service.stop();
});

it('the shipped EEG model answers as torch', async () => {
  const { windows } = readFixture<GoldenWindows>('shipped-eeg.json');
  const service = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg') });
  const bodies = windows.map(({ signal }) => ({ signal }));
  const answers = await postAll(service, '/predict', bodies);
  for (const [i, { probabilities }] of windows.entries()) {
    const best = Math.max(...probabilities);
    const { status, json } = answers[i] as Answer;
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        patient_id: null,
        diagnosis: CLASSES[probabilities.indexOf(best)],
        confidence: expect.any(Number),
      },
    });
    const { confidence } = json as { confidence: number };
    expect(Math.abs(confidence - best)).toBeLessThanOrEqual(TOLERANCE);
  }
  await service.stop();
});
