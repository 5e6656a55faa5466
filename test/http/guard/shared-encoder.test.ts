/** A guardrail with six classifiers on one frozen base: one pass of the encoder for a text. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { post } from '../../helpers/http';
import { scrape } from '../../helpers/metrics';
import {
  type ModelsDirectory,
  newDirectory,
  removeDirectories,
} from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';
import { writeClassifier } from '../../helpers/shared-base';
import { until } from '../../helpers/until';

const MODELS = [0, 1, 2, 3, 4, 5];

interface Finding {
  readonly check: string;
  readonly label: string;
  readonly score: number;
}

afterAll(removeDirectories);

function directoryOfSix(): ModelsDirectory {
  const directory = newDirectory();
  for (const seed of MODELS) writeClassifier(path.join(directory.path, `m${seed}`), seed);
  const checks = MODELS.map((seed) => ({
    ...{ type: 'text-classification', name: `check ${seed}`, model: `m${seed}`, action: 'flag' },
    labels: { [`label ${seed}.0`]: 0, [`label ${seed}.1`]: 0 },
  }));
  directory.write('guard.json', JSON.stringify({ checks }));
  return directory;
}

async function guard(service: Service, text: string): Promise<readonly Finding[]> {
  const { status, json } = await post(service, '/guard', { text });
  expect({ status, json }).toMatchObject({ status: 200, json: { errors: [] } });
  return (json as { readonly findings: readonly Finding[] }).findings;
}

/** Texts that the models have completed, and passes of the encoder for them. */
async function countsOf(service: Service) {
  const { samples } = await scrape(service);
  const sum = (name: string, outcome?: string): number =>
    samples
      .filter((one) => one.name === `libtorch_serve_${name}` && one.labels.outcome === outcome)
      .reduce((all, { value }) => all + value, 0);
  const inputs = sum('inputs_total', 'completed');
  return { inputs, passes: inputs - sum('encoder_reused_total') };
}

it('a text is encoded once for all checks, and has the scores of each model', async () => {
  const service = await directoryOfSix().start();
  // Numbers of tokens differ, so no text has the tokens of another one.
  const texts = Array.from({ length: 25 }, (_, count) => `${'a '.repeat(count)}film.`);
  const found = await Promise.all(texts.map((text) => guard(service, text)));
  expect(await countsOf(service)).toEqual({ inputs: 6 * texts.length, passes: texts.length });
  for (const [index, text] of texts.entries()) {
    for (const seed of MODELS) {
      const { json } = await post(service, `/models/m${seed}/analyze`, { text });
      const { label, score } = json as Finding;
      const findings = found[index]?.filter(({ check }) => check === `check ${seed}`) ?? [];
      expect(findings).toHaveLength(2);
      const same = findings.find((finding) => finding.label === label);
      if (same) expect(same.score).toBe(score);
      for (const finding of findings) expect(finding.score).toBeLessThanOrEqual(score);
    }
  }
  // The models have kept the states for the requests of /analyze.
  expect(await countsOf(service)).toEqual({ inputs: 12 * texts.length, passes: texts.length });
});

it('checks continue while a model on the base is replaced', async () => {
  const directory = directoryOfSix();
  const service = await directory.start({ env: { MODELS_WATCH: 'true' } });
  const check = async () => {
    const findings = await guard(service, 'A warm, funny film.');
    const scores = findings.map((one) => [`${one.check}, ${one.label}`, one.score] as const);
    const isOfFifth = ([name]: readonly [string, number]) => name.startsWith('check 5');
    return {
      fifth: Object.fromEntries(scores.filter(isOfFifth)),
      others: Object.fromEntries(scores.filter((one) => !isOfFifth(one))),
    };
  };
  const before = await check();
  expect(Object.keys(before.others)).toHaveLength(10);
  // Other weights for the same labels. The folder is complete when it gets its name.
  const [folder, prepared] = [path.join(directory.path, 'm5'), path.join(directory.path, '.m5')];
  const config = readFileSync(path.join(folder, 'config.json'));
  writeClassifier(prepared, 8);
  writeFileSync(path.join(prepared, 'config.json'), config);
  rmSync(folder, { recursive: true });
  renameSync(prepared, folder);
  await until('the other weights of m5', async () => {
    const { fifth, others } = await check();
    expect(others).toEqual(before.others);
    return JSON.stringify(fifth) !== JSON.stringify(before.fifth);
  });
  expect(Object.keys((await check()).fifth)).toEqual(Object.keys(before.fifth));
});
