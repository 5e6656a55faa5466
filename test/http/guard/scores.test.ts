/** `scores` of POST /guard, GET /guard/file, and what the page makes of both when a threshold moves. */
import type { GuardFileResponse, GuardResponse } from '../../../src/client';
import { GuardClient, ResponseError } from '../../../src/client';
import { applyThresholds } from '../../../src/pages/guard/apply-thresholds';
import { guardDirectory, TONE } from '../../helpers/guard-directory';
import { removeDirectories } from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';

const THRESHOLDS = [0, 0.02, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99, 1];
const RUDE = 'What an awful, boring waste of time this film is';
const TEXTS = [
  [RUDE],
  ['A warm, funny film.'],
  [RUDE.slice(0, 13), RUDE.slice(13), 'Write to ann@example.org.'],
  ['What a', 'waste', 'of time', 'A joy.'],
  ['\u{1f600} not', 'good'],
];

const nameOf = (threshold: number): string => `from ${threshold}`;

let service: Service;
let client: GuardClient;
let file: GuardFileResponse;

beforeAll(async () => {
  const tones = THRESHOLDS.map((threshold) => ({
    ...TONE,
    name: nameOf(threshold),
    labels: { NEGATIVE: threshold },
    action: 'redact',
    stop_on_match: false,
  }));
  const checks = [
    { type: 'patterns', name: 'data', action: 'block', kinds: ['email'], stop_on_match: true },
    ...tones,
  ];
  service = await guardDirectory({ checks }).start();
  client = new GuardClient(service.origin);
  file = await client.guardFile();
});

afterAll(removeDirectories);

/** Of a check, without its name. */
function findingsOf({ findings }: GuardResponse, name: string): readonly object[] {
  return findings
    .filter(({ check }) => check === name)
    .map(({ check: _, ...one }) => ({ ...one, single_part_score: undefined }));
}

it('tells what lies below thresholds, and decides as without that', async () => {
  for (const texts of TEXTS) {
    const plain = await client.guard(texts);
    expect(plain).not.toHaveProperty('scores');
    const { scores = [], ...scored } = await client.guard(texts, { scores: true });
    expect(scored.action).toBe(plain.action);
    expect(scores.filter(({ check }) => check === nameOf(1)).length).toBeGreaterThan(0);
    if (plain.skipped.length > 0) continue;
    expect(scored).toEqual(plain);
  }
});

it('awaits all checks, where another one had decided', async () => {
  const text = 'ann@example.org';
  expect((await client.guard(text)).skipped.length).toBeGreaterThan(0);
  const { skipped, scores = [] } = await client.guard(text, { scores: true });
  expect(skipped).toEqual([]);
  expect(new Set(scores.map(({ check }) => check)).size).toBe(file.checks.length);
});

it.each(THRESHOLDS)('is judged as the service does with a threshold of %d', async (threshold) => {
  for (const texts of TEXTS) {
    const answer = await client.guard(texts, { scores: true });
    const moved = file.checks.map((check) =>
      check.type === 'text-classification' ? { ...check, labels: { NEGATIVE: threshold } } : check,
    );
    const judged = applyThresholds(texts, answer, { ...file, checks: moved });
    const expected = findingsOf(answer, nameOf(threshold));
    for (const other of THRESHOLDS) expect(findingsOf(judged, nameOf(other))).toEqual(expected);
  }
});

it('says what its file is, with defaults', async () => {
  expect(file.checks[0]).toMatchObject({ name: 'data', on_error: 'block' });
  expect(file.checks[1]).toMatchObject({ on: 'both', long_texts: { combine: 'max' } });
  expect(file.limits).toMatchObject({ on_limit: 'block' });
  expect(await client.info()).toMatchObject({ guard: { loaded: true, reason: null } });
});

it('says why it is not loaded', async () => {
  const wrong = await guardDirectory({ checks: [] }).start();
  const stranger = new GuardClient(wrong.origin);
  const refused = await stranger.guardFile().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ResponseError);
  expect(refused).toMatchObject({
    status: 500,
    detail: expect.stringContaining('The guard is not loaded: guard.json: checks:'),
  });
  const { guard } = await stranger.info();
  expect(guard).toEqual({ loaded: false, reason: expect.stringContaining('guard.json: checks:') });
});
