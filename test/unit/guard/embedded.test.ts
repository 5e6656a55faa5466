/** A guard inside of a program: its models, checks that decide, entailment models over long texts. */
import path from 'node:path';
import { ConfigError, Guard } from '../../../src/index';
import { Folder } from '../../helpers/files';
import { readFixture } from '../../helpers/golden';
import { modelWith } from '../../helpers/model-folder';
import { ROOT } from '../../helpers/service';

const folder = new Folder();
const SHIPPED = path.join(ROOT, 'models/sentiment');
const RUDE = 'This is awful, a terrible waste of time.';
const TONE = {
  type: 'text-classification',
  name: 'tone',
  model: 'sentiment',
  action: 'flag',
  labels: { NEGATIVE: 0.9 },
};
const DATA = { type: 'patterns', name: 'data', action: 'block', kinds: ['email'] };

afterAll(() => folder.remove());

it('says which model it lacks, and what is wrong with a file', async () => {
  await expect(Guard.load({ file: { checks: [TONE] } })).rejects.toThrow(
    new ConfigError(['models: expected the folder of "sentiment"']),
  );
  await expect(Guard.load({ file: { checks: [] } })).rejects.toMatchObject({
    code: 'MODEL_LOAD_FAILED',
    message: expect.stringMatching(/^file: checks: /),
  });
});

it('a stop_on_match check ends the others; without it all are told', async () => {
  const check = async (stop_on_match: boolean) => {
    const file = { checks: [TONE, { ...DATA, stop_on_match }] };
    const guard = await Guard.load({ file, models: { sentiment: SHIPPED } });
    const answer = await guard.check(`${RUDE} ann@example.org`);
    await guard.close();
    return answer;
  };
  expect(await check(true)).toMatchObject({ action: 'block', skipped: ['tone'], errors: [] });
  const { skipped, findings } = await check(false);
  expect(skipped).toEqual([]);
  expect(findings.map((one) => one.check).sort()).toEqual(['data', 'tone']);
});

it('gives placeholders back, and stops where nobody waits', async () => {
  const file = { checks: [{ ...DATA, action: 'redact' }, TONE] };
  const guard = await Guard.load({ file, models: { sentiment: SHIPPED } });
  const { texts, map } = await guard.check('Write to ann@example.org.');
  expect(texts).toEqual(['Write to <EMAIL_1>.']);
  expect(Guard.restore('I wrote to <EMAIL_1>, not to <EMAIL_2>.', map)).toBe(
    'I wrote to ann@example.org, not to <EMAIL_2>.',
  );
  const restorer = Guard.restorer(map);
  expect(['To <EM', 'AIL_1>.'].map((piece) => restorer.push(piece))).toEqual([
    'To ',
    'ann@example.org.',
  ]);
  await expect(guard.check(RUDE, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'CANCELLED',
  });
  await guard.close();
});

it('a label that a model does not have is said, and on_error decides', async () => {
  const file = { checks: [{ ...TONE, labels: { ANGRY: 0.5 } }] };
  const guard = await Guard.load({ file, models: { sentiment: SHIPPED } });
  const reason = 'The model has no label "ANGRY". Labels: NEGATIVE, POSITIVE.';
  expect(await guard.check('a')).toMatchObject({
    action: 'block',
    errors: [{ check: 'tone', reason, action: 'block' }],
  });
  await guard.close();
});

it('an entailment model reads a long text in pieces, all of it', async () => {
  const { cases } = readFixture<{ cases: readonly { readonly model: string }[] }>('zero-shot.json');
  const id2label = { 0: 'contradiction', 1: 'neutral', 2: 'entailment' };
  const model = modelWith(folder, cases[0]?.model ?? '', { 'config.json': { id2label } });
  const topic = {
    type: 'zero-shot-classification',
    name: 'topic',
    model: 'nli',
    action: 'flag',
    candidate_labels: ['film', 'food'],
    labels: { film: 0, food: 0 },
    multi_label: true,
    hypothesis_template: '{}.',
  };
  const guard = await Guard.load({ file: { checks: [topic] }, models: { nli: model } });
  const text = 'The film is good and \u{1f600} the end is not. '.repeat(20);
  const { findings, unchecked, errors } = await guard.check(text);
  expect({ unchecked, errors }).toEqual({ unchecked: [], errors: [] });
  const pieces = findings.filter(({ label }) => label === 'film');
  expect(pieces.length).toBeGreaterThan(5);
  let read = 0;
  for (const { start, end } of pieces as readonly { start: number; end: number }[]) {
    expect(start).toBeLessThanOrEqual(read);
    expect(text.slice(start, end)).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
    read = Math.max(read, end);
  }
  expect(read).toBe(text.length);
  const few = await Guard.load({
    file: { checks: [topic], limits: { windows: 2, on_limit: 'flag' } },
    models: { nli: model },
  });
  const { unchecked: left } = await few.check(text);
  expect(left).toMatchObject([{ check: 'topic', limit: 'windows', action: 'flag' }]);
  await few.close();
  await guard.close();
});

it('what decides is told: a stop_on_match check that finds only in two parts together blocks', async () => {
  const guard = await Guard.load({ file: { checks: [{ ...DATA, stop_on_match: true }] } });
  for (const texts of [
    ['to ann@exam', 'ple.org'],
    ['film.', 'ann@example.org'],
  ]) {
    const { action, findings } = await guard.check(texts);
    expect([texts, action, findings.length > 0]).toEqual([texts, 'block', true]);
  }
  await guard.close();
});
