/** A policy check over a GLiNER model: entities of the labels of the check, next to patterns. */
import { cpSync } from 'node:fs';
import path from 'node:path';
import { guardDirectory } from '../../helpers/guard-directory';
import { post } from '../../helpers/http';
import { removeDirectories } from '../../helpers/models-directory';
import { FIXTURES, type Service } from '../../helpers/service';

const TEXT = 'Ada met \u{1f600} Charles Babbage in London; write to ann@example.org today.';
const CHECK = { type: 'entity-recognition', name: 'names', model: 'gliner', variants: [] } as const;
const DATA = { type: 'patterns', name: 'data', action: 'redact', kinds: ['email'], variants: [] };
const LABELS = ['person', 'city', 'date of birth'];
const THRESHOLDS = { person: 0.5, city: 0.5, 'date of birth': 0.5 };

interface Tag {
  readonly label: string;
  readonly start: number;
  readonly end: number;
}
interface Body {
  readonly action: string;
  readonly texts: readonly string[];
  readonly findings: readonly (Tag & { readonly check: string })[];
}

afterAll(removeDirectories);

async function start(...checks: readonly object[]): Promise<Service> {
  const directory = guardDirectory({ checks });
  const source = path.join(FIXTURES, 'gliner', 'bi-modernbert-marker');
  cpSync(source, path.join(directory.path, 'gliner'), { recursive: true });
  return directory.start({ env: {} });
}

const tagsOf = async (service: Service, labels: unknown): Promise<readonly Tag[]> => {
  const { json } = await post(service, '/models/gliner/tag', { text: TEXT, labels });
  return (json as { readonly tags: readonly Tag[] }).tags;
};
const check = async (service: Service): Promise<Body> =>
  (await post(service, '/guard', { text: TEXT })).json as Body;
const placed = (tags: readonly Tag[]) => tags.map(({ label, start, end }) => [label, start, end]);

it('finds the entities of POST /tag, next to the findings of patterns', async () => {
  const names = { ...CHECK, action: 'redact', labels: THRESHOLDS };
  const service = await start(names, DATA);
  const tags = await tagsOf(service, LABELS);
  expect(tags.length).toBeGreaterThan(1);
  const { action, findings, texts } = await check(service);
  expect(action).toBe('redact');
  expect(placed(findings.filter((one) => one.check === 'names'))).toEqual(placed(tags));
  expect(findings.filter((one) => one.check === 'data')).toMatchObject([{ label: 'EMAIL' }]);
  const [redacted = ''] = texts;
  for (const { start: from, end } of tags) expect(redacted).not.toContain(TEXT.slice(from, end));
  expect(redacted).not.toContain('ann@example.org');
});

it('reads the descriptions of labels, as POST /tag with an object of labels', async () => {
  const descriptions = { person: 'city', city: 'date of birth' };
  const flags = { ...CHECK, action: 'flag', labels: THRESHOLDS };
  const service = await start({ ...flags, descriptions });
  const described = await tagsOf(service, { ...descriptions, 'date of birth': 'date of birth' });
  expect(placed((await check(service)).findings)).toEqual(placed(described));
  expect(described).not.toEqual(await tagsOf(service, LABELS));
});

it('blocks if the model is of another task', async () => {
  const service = await start({ ...CHECK, model: 'sentiment', action: 'flag', labels: THRESHOLDS });
  const { action, findings } = await check(service);
  expect([action, findings]).toEqual(['block', []]);
});
