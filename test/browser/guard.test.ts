import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { GuardResponse } from '../../src/client';
import { parseGuardFile } from '../../src/tasks/guard/guard-file';
import { post, request } from '../helpers/http';
import { ModelsDirectory } from '../helpers/models-directory';
import { ROOT } from '../helpers/service';
import { until } from '../helpers/until';
import { describeInBrowser, LOOKS, setStage, takePicture, testLooks, type Visit } from './browser';

const EMAIL = 'ann.lee@example.org';
const TEXT = `\u{1f600} Write to ${EMAIL}, card 4111 1111 1111 1111.`;
const RUDE = 'What an awful, boring waste of time this film is.';

const TONE = { type: 'text-classification', model: 'sentiment', labels: { NEGATIVE: 0.95 } };
const CHECKS = [
  { type: 'patterns', name: 'personal data', action: 'redact', kinds: ['email', 'card', 'iban'] },
  { ...TONE, name: 'tone', action: 'block' },
  { ...TONE, name: 'answers', model: 'nobody', action: 'flag', on: 'output' },
];

function put(directory: ModelsDirectory, guard: object): void {
  const files = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
  for (const name of files)
    directory.file(`sentiment/${name}`, path.join(ROOT, 'models/sentiment', name));
  directory.write('guard.json', JSON.stringify(guard));
}

describeInBrowser('the page of a guard', () => {
  const directory = new ModelsDirectory();
  const stage = setStage(() => {
    put(directory, { checks: CHECKS });
    return directory.start({ env: { BODY_LIMIT: '4000' } });
  }, '/guard/');

  afterAll(() => directory.folder.remove());

  const ask = async (body: object): Promise<GuardResponse> =>
    (await post(stage.service, '/guard', body)).json as GuardResponse;

  /** Until the threshold of the tone is that. */
  async function load(guard: string, threshold: number): Promise<void> {
    directory.write('guard.json', guard);
    stage.service.kill('SIGHUP');
    await until(`a threshold of ${threshold}`, async () => {
      const { json } = await request(stage.service, { path: '/guard/file' });
      const { checks } = json as { readonly checks: readonly { readonly labels?: object }[] };
      return isDeepStrictEqual(checks[1]?.labels, { NEGATIVE: threshold });
    });
  }

  const enter = async (page: Visit['page'], text: string): Promise<void> => {
    await page.getByLabel('Text', { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.locator('.timing').waitFor();
  };

  /** Check, label, score and text of each row. */
  async function rowsOf({ page }: Visit): Promise<readonly string[]> {
    const rows = await page.locator('tbody tr').all();
    return Promise.all(
      rows.map(async (row) => (await row.locator('td').allTextContents()).slice(1, 5).join(' | ')),
    );
  }

  it('shows what is found and the text without it, by keyboard alone', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    await page.getByLabel('Text', { exact: true }).focus();
    await page.keyboard.insertText(TEXT);
    await page.keyboard.press('Control+Enter');
    await page.locator('.timing').waitFor();
    const { action, findings, texts } = await ask({ text: TEXT });
    expect([action, findings.length]).toEqual(['redact', 2]);
    expect(await page.locator('.verdict').textContent()).toBe('Redacted');
    expect(await rowsOf(visit)).toEqual([
      `personal data | EMAIL | 1.0000 | ${EMAIL}`,
      'personal data | CARD | 1.0000 | 4111 1111 1111 1111',
    ]);
    const marks = await page.locator('mark').evaluateAll((all) => all.map((one) => one.innerHTML));
    expect(marks[0]).toBe(`${EMAIL}<span class="label">personal data: EMAIL 1.00</span>`);
    expect(await page.getByRole('region', { name: 'Text, redacted' }).textContent()).toBe(texts[0]);
    expect(await page.locator('.placeholders').textContent()).toContain(`<EMAIL_1>${EMAIL}`);
    expect(await page.getByRole('status').last().textContent()).toBe('');
    expect(await visit.walk()).toEqual(
      expect.arrayContaining([
        'direction',
        'part-0',
        'Check',
        'tone: NEGATIVE',
        'Table of findings',
        'Copy',
      ]),
    );
    expect(problems).toEqual([]);
  });

  it('judges anew when a slider moves, as the service would with that file', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    await enter(page, RUDE);
    const scored = await ask({ text: RUDE, scores: true });
    const score = scored.scores?.find(({ check }) => check === 'tone')?.score ?? 0;
    expect(scored.action).toBe('block');
    expect(await page.locator('.verdict').textContent()).toBe('Blocked');
    const slider = page.getByRole('slider', { name: 'tone: NEGATIVE' });
    await slider.focus();
    await page.keyboard.press('End');
    await page.locator('.verdict').getByText('Allowed').waitFor();
    expect(score).toBeLessThan(1);
    expect(await page.getByText(`Highest score in this text: ${score.toFixed(4)}`).count()).toBe(1);
    expect(await page.getByText('With the thresholds on the server: blocked.').count()).toBe(1);

    const { name, text } = await visit.download('Download');
    expect(name).toBe('guard.json');
    const file = parseGuardFile(text);
    const { json } = await request(stage.service, { path: '/guard/file' });
    expect(file.checks[1]).toMatchObject({ name: 'tone', labels: { NEGATIVE: 1 } });
    expect(json).toMatchObject({ checks: [{}, { labels: { NEGATIVE: 0.95 } }, {}] });
    expect({ ...file.checks[1], labels: {} }).toEqual({
      ...(json as typeof file).checks[1],
      labels: {},
    });

    // A service with that file says the same.
    await load(text, 1);
    expect((await ask({ text: RUDE })).action).toBe('allow');
    await load(JSON.stringify({ checks: CHECKS }), 0.95);
    expect((await ask({ text: RUDE })).action).toBe('block');
    expect(problems).toEqual([]);
  });

  it('takes several parts, and says what could not run in which direction', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    await page.getByLabel('Text', { exact: true }).fill('Thank you.');
    await page.getByRole('button', { name: 'Add a part' }).click();
    await page.getByLabel('Part 2', { exact: true }).fill(TEXT);
    await page.getByLabel('Direction').selectOption('output');
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.locator('.timing').waitFor();
    expect(await page.locator('.verdict').textContent()).toBe('Blocked');
    expect(await page.getByText('Check “answers” failed, the text is blocked.').count()).toBe(1);
    expect(await page.locator('.note .detail').textContent()).toContain('no loaded model "nobody"');
    expect(await page.getByRole('region', { name: 'Part 2, redacted' }).textContent()).toContain(
      '<EMAIL_1>',
    );
    await page.getByRole('button', { name: 'Remove part 2' }).click();
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('Thank you.');
    expect(problems).toEqual([]);
  });

  it('says what the service refuses, and in its words why', async () => {
    const visit = await stage.open();
    await visit.page.getByLabel('Text', { exact: true }).fill('far too long '.repeat(400));
    await visit.page.getByRole('button', { name: 'Check', exact: true }).click();
    await visit.page.getByText('The request is too large.').waitFor();
    expect(await visit.page.locator('.note .detail').textContent()).toContain('4000 bytes');
  });

  it('is led to by the list of models', async () => {
    const { page, problems } = await stage.open();
    await page.getByRole('link', { name: 'All models' }).click();
    await page.getByRole('link', { name: 'Guardrail' }).click();
    await page.locator('.badge').getByText('3 checks').waitFor();
    expect(page.url()).toBe(`${stage.service.origin}/guard/`);
    expect(problems).toEqual([]);
  });

  it('picture of it', async () => {
    const visit = await stage.open(LOOKS[0]);
    await enter(visit.page, `${TEXT} ${RUDE}`);
    await takePicture(visit, 'guard');
  });

  testLooks(stage, async ({ page }) => {
    await page.getByRole('button', { name: 'Please write to' }).click();
    await page.locator('.timing').waitFor();
  });
});

describeInBrowser('the page of a guard that is not loaded, or has keys', () => {
  const KEY = 'the-key-of-the-guard-test';
  const wrong = new ModelsDirectory();
  const stage = setStage(() => {
    put(wrong, { checks: CHECKS.map((check) => ({ ...check, name: 'one name' })) });
    return wrong.start({ env: { API_KEYS_FILE: wrong.folder.put('keys', KEY) } });
  }, '/guard/');

  afterAll(() => wrong.folder.remove());

  it.each(LOOKS)('asks for a key, and says why there is no guard: $look', async (look) => {
    const visit = await stage.open(look, stage.service, 'form:has(#key)');
    const { page } = visit;
    expect(await page.locator('.badge').textContent()).toBe('API key required');
    expect([await visit.findViolations(), await visit.overflow()]).toEqual([[], 0]);
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The guardrail policy is not loaded.').waitFor();
    expect(await page.locator('.note .detail').textContent()).toContain(
      'checks.1.name: another check is called "one name"',
    );
    expect(await page.locator('.badge').textContent()).toBe('Not loaded');
    expect(await page.getByRole('button', { name: 'Check', exact: true }).isDisabled()).toBe(true);
    expect([await visit.findViolations(), await visit.overflow()]).toEqual([[], 0]);
  });
});
