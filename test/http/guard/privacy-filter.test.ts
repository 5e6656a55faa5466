/** A policy check over openai_privacy_filter, whose spans are found by Viterbi decoding. */
import path from 'node:path';
import { guardDirectory } from '../../helpers/guard-directory';
import { post } from '../../helpers/http';
import { removeDirectories } from '../../helpers/models-directory';
import { FIXTURES, type Service } from '../../helpers/service';

const TEXT = 'The film is good. He reads the letter twice.';
const FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
const CHECK = { type: 'token-classification', model: 'privacy' } as const;

interface Tag {
  readonly label: string;
  readonly start: number;
  readonly end: number;
}
interface Finding extends Tag {
  readonly check: string;
}

afterAll(removeDirectories);

async function start(check: object): Promise<Service> {
  const directory = guardDirectory({ checks: [{ ...CHECK, ...check }] });
  for (const name of [...FILES, 'viterbi_calibration.json']) {
    directory.file(`privacy/${name}`, path.join(FIXTURES, 'tagging/privacy-filter', name));
  }
  return directory.start({ env: {} });
}

const placed = (tags: readonly Tag[]) =>
  tags.map(({ label, start, end }) => `${label} ${start}-${end}`).sort();

it('finds the spans of POST /tag', async () => {
  const service = await start({ name: 'pii', action: 'flag', threshold: 0, variants: [] });
  const { json } = await post(service, '/models/privacy/tag', { text: TEXT });
  const { tags, truncated } = json as {
    readonly tags: readonly Tag[];
    readonly truncated: boolean;
  };
  expect(truncated).toBe(false);
  const checked = await post(service, '/guard', { text: TEXT });
  const { findings } = checked.json as { readonly findings: readonly Finding[] };
  expect(tags.length).toBeGreaterThan(1);
  expect(placed(findings)).toEqual(placed(tags));
  const simple = await post(service, '/models/privacy/tag', {
    text: TEXT,
    aggregation_strategy: 'simple',
  });
  expect(placed((simple.json as { readonly tags: readonly Tag[] }).tags)).not.toEqual(placed(tags));
});

it('redacts the class that a check names', async () => {
  const probe = await start({ name: 'pii', action: 'flag', threshold: 0 });
  const { json } = await post(probe, '/models/privacy/tag', { text: TEXT });
  const [first] = (json as { readonly tags: readonly Tag[] }).tags;
  if (!first) throw new Error('expected a span');
  const service = await start({ name: 'pii', action: 'redact', labels: { [first.label]: 0 } });
  const answer = await post(service, '/guard', { text: TEXT });
  const body = answer.json as { readonly action: string; readonly texts: readonly string[] };
  expect(body.action).toBe('redact');
  const redacted = body.texts[0] as string;
  expect(redacted.startsWith(`${TEXT.slice(0, first.start)}<`)).toBe(true);
});
