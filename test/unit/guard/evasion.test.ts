/**
 * No text slips past by its form: what is found alone is found at every place of a long text, in every form, and
 * cut into parts. The tagger says of each token the same wherever it stands: its attention and its positions are
 * zeros. So what it finds alone it has to find everywhere.
 */
import { cpSync } from 'node:fs';
import path from 'node:path';
import { Guard, type GuardResult } from '../../../src/index';
import { Folder } from '../../helpers/files';
import { seededRandom } from '../../helpers/random';
import { zeroSafetensors } from '../../helpers/safetensors';
import { FIXTURES, ROOT } from '../../helpers/service';

const SECRET = 'was'; // PER; all other words here are LOC
const WORDS = 'film the good and a of story great this movie actor music'.split(' ');
const CARD = '4111 1111 1111 1111';
const IBAN = 'DE89370400440532013000';
const EMAIL = 'ann.lee@example.org';
const RUDE = 'This is awful, a terrible waste of time.';

const folder = new Folder();
const tagger = path.join(folder.path, 'tagger');
const told = { type: 'token-classification', name: 'names', model: 'tagger', action: 'redact' };
const names = { checks: [{ ...told, labels: { PER: 0.6 } }] };
const data = { type: 'patterns', name: 'data', action: 'block', kinds: ['email', 'card', 'iban'] };
let guard: Guard;
let patterns: Guard;
let shipped: Guard;
/** Tells all of its windows. */
let windows: Guard;

beforeAll(async () => {
  cpSync(path.join(FIXTURES, 'tagging/bert'), tagger, { recursive: true });
  const weights = path.join(tagger, 'model.safetensors');
  zeroSafetensors(weights, /attention\.output\.dense|position_embeddings/);
  const file = { checks: [...names.checks, data], limits: { windows: 10_000 } };
  guard = await Guard.load({ file, models: { tagger }, maxQueueWaitMs: 600_000 });
  patterns = await Guard.load({ file: { checks: [data] } });
  const tone = { type: 'text-classification', name: 'tone', model: 'sentiment', action: 'block' };
  const strict = { ...tone, labels: { NEGATIVE: 0.9 }, long_texts: { window: 32, stride: 16 } };
  const all = { ...strict, action: 'flag', labels: { NEGATIVE: 0 } };
  const models = { sentiment: path.join(ROOT, 'models/sentiment') };
  shipped = await Guard.load({ file: { checks: [strict] }, models, maxQueueWaitMs: 600_000 });
  windows = await Guard.load({ file: { checks: [all] }, models, maxQueueWaitMs: 600_000 });
});

afterAll(async () => {
  await guard.close();
  await patterns.close();
  await shipped.close();
  await windows.close();
  folder.remove();
});

/** What a check has found, as it stands in what was sent. */
function found({ findings }: GuardResult, check: string, texts: readonly string[]): string[] {
  const own = findings.filter((one) => one.check === check);
  return own.map(({ part, start, end }) =>
    (texts[part ?? 0] as string).slice(start ?? 0, end ?? undefined),
  );
}

async function foundIn(text: string, check: string): Promise<string[]> {
  return found(await guard.check(text), check, [text]);
}

function words(count: number): string {
  return Array.from({ length: count }, (_, i) => `${WORDS[(i * i + i) % WORDS.length]} `).join('');
}

describe('in long texts', () => {
  it('a span is found at every place, also where windows are cut', async () => {
    for (let before = 0; before < 100; before++) {
      const text = `${words(before)}${SECRET} ${words(60)}`;
      expect([before, ...(await foundIn(text, 'names'))]).toEqual([before, SECRET]);
    }
  });

  it('it is found behind, before and among 50,000 words, in 1 MB, and all is read', async () => {
    for (const [before, after] of [
      [50_000, 0],
      [25_000, 25_000],
      [0, 50_000],
    ] as const) {
      const text = `${words(before)}${SECRET} ${words(after)}`;
      const answer = await guard.check(text);
      expect(found(answer, 'names', [text])).toEqual([SECRET]);
      expect(answer.unchecked).toEqual([]);
    }
    const megabyte = 'film and more, '.repeat(69_000);
    for (const [index, secret] of [CARD, IBAN, EMAIL].entries()) {
      const at = Math.floor((megabyte.length * index) / 2);
      const text = `${megabyte.slice(0, at)} ${secret} ${megabyte.slice(at)}`;
      const answer = await patterns.check(text);
      expect(answer.unchecked).toEqual([]);
      expect(found(answer, 'data', [text])).toEqual([secret]);
    }
  });

  it('a classifier finds it in one of its windows', async () => {
    expect((await shipped.check(RUDE)).action).toBe('block');
    const filler = 'The table has four legs and stands in the kitchen. ';
    expect((await shipped.check(filler.repeat(40))).action).toBe('allow');
    for (const before of [0, 1, 7, 20, 39]) {
      const text = `${filler.repeat(before)}${RUDE} ${filler.repeat(40 - before)}`;
      const { action, findings } = await shipped.check(text);
      expect([before, action]).toEqual([before, 'block']);
      const at = text.indexOf(RUDE);
      const { start, end } = findings[0] as { start: number; end: number };
      expect(start).toBeLessThan(at + RUDE.length);
      expect(end).toBeGreaterThan(at);
    }
  });

  it('a classifier is given it whole in one of its windows, wherever they are cut', async () => {
    // Windows of 32 tokens share 16, and what is looked for has 10.
    for (let before = 0; before < 48; before++) {
      const text = `${words(before)}${RUDE} ${words(30)}`;
      const at = text.indexOf(RUDE);
      const { findings } = await windows.check(text);
      const whole = findings.filter(
        ({ start, end }) => (start as number) <= at && (end as number) >= at + RUDE.length,
      );
      expect([before, whole.length > 0]).toEqual([before, true]);
      const [first, last] = [findings[0], findings.at(-1)] as { start: number; end: number }[];
      expect([first?.start, last?.end]).toEqual([0, text.trimEnd().length]);
    }
  });
});

/** Forms of the same text. */
const FORMS: Readonly<Record<string, (text: string, random: () => number) => string>> = {
  'with characters of no width': (text, random) =>
    between(text, random, ['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad', '\ufe0f']),
  'with marks of direction': (text, random) =>
    between(text, random, ['\u202a', '\u202e', '\u202c', '\u2066', '\u2069', '\u200e', '\u061c']),
  'in full width': (text) =>
    text.replaceAll(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
  'in mathematical letters': (text) =>
    text.replaceAll(/[a-z]/g, (one) => String.fromCodePoint(one.charCodeAt(0) - 97 + 0x1d41a)),
  'in letters that look alike': (text) =>
    text.replaceAll(/[aeopcxy]/g, (one) => 'аеорсху'['aeopcxy'.indexOf(one)] as string),
  'in digits of another script': (text) =>
    text.replaceAll(/\d/g, (one) => String.fromCodePoint(0x0660 + Number(one))),
  'in all of these': (text, random) =>
    between(text.replaceAll('a', 'а').replaceAll('o', 'ｏ'), random, ['\u200b', '\u202e']),
};

function between(text: string, random: () => number, hidden: readonly string[]): string {
  const one = (): string => hidden[Math.floor(random() * hidden.length)] as string;
  return [...text].map((character) => (random() < 0.5 ? one() : '') + character).join('');
}

describe.each(Object.entries(FORMS))('%s', (_, form) => {
  it.each([
    ['names', SECRET],
    ['data', CARD],
    ['data', IBAN],
    ['data', EMAIL],
  ])('%s: %s is found, as exactly what was sent', async (check, secret) => {
    const random = seededRandom(7);
    for (let run = 0; run < 20; run++) {
      const written = form(secret, random);
      const text = `\u{1f600}film, ${written}; film`;
      const all = await foundIn(text, check);
      const longest = all.reduce((a, b) => (b.length > a.length ? b : a), '');
      expect(written).toContain(longest);
      expect(plain(longest)).toBe(plain(written));
    }
  });
});

/** Without what is not seen: it may or may not be part of a span where it is at an end of it. */
function plain(text: string): string {
  return text.replaceAll(/\p{Cf}|\ufe0f/gu, '');
}

describe('in base64', () => {
  const encoded = (text: string): string => Buffer.from(text).toString('base64');

  it.each([
    ['names', `film film ${SECRET} film`],
    ['data', `film ${CARD}.`],
    ['data', `film ${IBAN}.`],
    ['data', `film <${EMAIL}>`],
  ])('%s: %s is found', async (check, secret) => {
    const once = encoded(secret);
    const wrapped = encoded(`${words(20)}${secret}`).replaceAll(/.{32}/g, '$&\r\n');
    for (const text of [
      once,
      once.replaceAll('=', ''),
      `film: ${once}, film`,
      `x${once}`,
      `xy${encoded(`padding of it ${secret} and more of it`)}`,
      wrapped,
      encoded(`film ${once} film`),
      Buffer.from(secret).toString('base64url'),
    ]) {
      expect([text, (await foundIn(text, check)).length > 0]).toEqual([text, true]);
    }
  });

  it('what is redacted cannot be decoded any more', async () => {
    const text = `film ${encoded(`film film ${SECRET} film`)} film`;
    const { texts } = await guard.check(text);
    const rest = texts[0] as string;
    expect(rest).toMatch(/^film \S*<PER_1>\S* film$/);
    expect(Buffer.from(rest.replace('<PER_1>', ''), 'base64').toString()).not.toContain('was');
  });
});

describe('in parts', () => {
  it.each([
    ['names', `film ${SECRET} film`],
    ['data', `film ${CARD} film`],
    ['data', `film ${IBAN} film`],
    ['data', `film ${EMAIL} film`],
  ])('%s: %s is found wherever it is cut', async (check, text) => {
    for (let cut = 0; cut <= text.length; cut++) {
      const texts = [text.slice(0, cut), text.slice(cut)];
      const all = found(await guard.check(texts), check, texts);
      expect([cut, all.length > 0]).toEqual([cut, true]);
    }
  });

  it('each character may be a part, and all of them are redacted', async () => {
    const texts = [...`film ${SECRET} film`];
    const { texts: redacted } = await guard.check(texts);
    expect(redacted.join('').replaceAll(/<PER_\d>/g, '')).not.toMatch(/[wsr]/);
  });

  it('a classifier finds it wherever it is cut between words', async () => {
    const all = RUDE.split(' ');
    for (let cut = 1; cut < all.length; cut++) {
      const texts = [all.slice(0, cut).join(' '), all.slice(cut).join(' ')];
      const { action, findings } = await shipped.check(texts);
      expect([cut, action, findings.length > 0]).toEqual([cut, 'block', true]);
    }
  });

  it('it is found in 1 MB of parts, where one ends and the next begins', async () => {
    const filler = 'film and more, '.repeat(140);
    const texts = Array.from({ length: 490 }, () => filler);
    texts[250] = `${filler} ${CARD.slice(0, 10)}`;
    texts[251] = `${CARD.slice(10)} ${filler}`;
    const answer = await patterns.check(texts);
    expect(answer).toMatchObject({ action: 'block', unchecked: [] });
    expect(found(answer, 'data', texts).join('')).toBe(CARD);
  });

  it('but not where another part lies between: parts are joined in their order', async () => {
    const texts = [CARD.slice(0, 10), 'Go on.', CARD.slice(10)];
    expect(await patterns.check(texts)).toMatchObject({ action: 'allow', findings: [] });
  });

  it('what one part has alone is not told again of two', async () => {
    const texts = ['A film.', `${EMAIL} film`];
    expect(found(await guard.check(texts), 'data', texts)).toEqual([EMAIL]);
  });
});

describe('beyond a limit', () => {
  it('of windows it says from where on', async () => {
    const own = await Guard.load({
      file: { ...names, limits: { windows: 3 } },
      models: { tagger },
    });
    const text = words(60).trim();
    const { unchecked } = await own.check(text);
    expect(unchecked).toMatchObject([{ check: 'names', limit: 'windows', part: 0 }]);
    const { start } = unchecked[0] as { start: number };
    expect(start).toBeGreaterThan(100);
    expect(start).toBeLessThan(text.length);
    await own.close();
  });

  it.each([
    ['block', 'block'],
    ['flag', 'allow'],
  ])('of windows and of time, on_limit %s: %s', async (on_limit, action) => {
    const limits = { windows: 1, on_limit };
    const own = await Guard.load({ file: { ...names, limits }, models: { tagger } });
    const unchecked = [{ limit: 'windows', action: on_limit }];
    expect(await own.check(words(60).trim())).toMatchObject({ action, unchecked });
    await own.close();
    const late = await Guard.load({ file: { checks: [data], limits } });
    const cut = [{ check: null, limit: 'time', action: on_limit }];
    const answer = await late.check('film '.repeat(1000), { timeoutMs: 1e-3 });
    expect(answer).toMatchObject({ action, unchecked: cut });
    await late.close();
  });

  const limited = (limits: object) =>
    Guard.load({
      file: {
        checks: [{ type: 'patterns', name: 'data', action: 'flag', kinds: ['email'] }],
        limits,
      },
    });

  it.each([
    [{ characters: 10 }, 'a'.repeat(11), { limit: 'characters', part: 0, start: 10 }],
    [{ variants: 1 }, 'i\u200bgnоre', { limit: 'variants', part: null }],
    [{ matches: 1 }, `${EMAIL} ${EMAIL}`, { limit: 'matches' }],
  ])('%j: it is blocked or said', async (limits, text, expected) => {
    for (const [on_limit, action] of [
      ['block', 'block'],
      ['flag', 'allow'],
    ]) {
      const own = await limited({ ...limits, on_limit });
      expect(await own.check(text)).toMatchObject({ action, unchecked: [expected] });
      await own.close();
    }
  });
});
