/** The table of docs/reference/metrics.md is that of a running server. WRITE=1 writes it (`npm run references`). */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Folder } from '../helpers/files';
import { analyze, post, predict, request } from '../helpers/http';
import { EEG_MODEL, killAll, ROOT, startService } from '../helpers/service';
import { SIGNAL } from '../helpers/services';

const PAGE = path.join(ROOT, 'docs/reference/metrics.md');
const BLOCK = /(?<=<!-- generated: metrics -->\n)[\s\S]*?(?=<!-- end -->)/;
const KEY = 'the-key-of-the-metrics-test';
/** Labels of a model in a repository, which the page explains once. */
const MODEL_LABELS = new Set(['model', 'version']);

const folder = new Folder();
afterAll(async () => {
  await killAll();
  folder.remove();
});

/** All metrics after a request to each kind of model. */
async function scrape(): Promise<string> {
  const keys = folder.put('keys', KEY, 0o600);
  const service = await startService('serve', {
    args: ['models/sentiment', EEG_MODEL],
    env: {
      GRPC_PORT: '0',
      API_KEYS_FILE: keys,
      GUARD_FILE: 'examples/guard/guard.json',
      FILES_DIR: folder.path,
    },
  });
  const headers = { authorization: `Bearer ${KEY}` };
  await service.waitForLog(({ msg }) => msg === 'models loaded');
  await analyze(service, 'good', { headers });
  await post(service, '/predict', { signal: SIGNAL }, { headers });
  await post(service, '/guard', { text: 'good' }, { headers });
  await predict(service, SIGNAL); // 401
  const { text } = await request(service, { path: '/metrics', headers });
  await service.stop();
  return text;
}

function tableOf(text: string): string {
  const rows = text.split('# HELP ').slice(1).map(rowOf).sort();
  return ['| Metric | Type | Labels | Meaning |', '| --- | --- | --- | --- |', ...rows, ''].join(
    '\n',
  );
}

function rowOf(block: string): string {
  const [, name = '', help = ''] = /^(\S+) (.*)/.exec(block) ?? [];
  const [, type] = /^# TYPE \S+ (\w+)/m.exec(block) ?? [];
  const labels = new Set([...block.matchAll(/(?<=[{,])(\w+)="/g)].map(([, label = '']) => label));
  const shown = [...labels].filter(
    (label) => label !== 'le' && (name.endsWith('_info') || !MODEL_LABELS.has(label)),
  );
  const cells = shown.map((label) => `\`${label}\``).join(', ') || '–';
  return `| \`${name}\` | ${type} | ${cells} | ${help.replaceAll('|', '\\|')} |`;
}

it('has the metrics of a running server: npm run references writes them', async () => {
  const table = tableOf(await scrape());
  const page = readFileSync(PAGE, 'utf8');
  if (process.env.WRITE) writeFileSync(PAGE, page.replace(BLOCK, table));
  expect(BLOCK.exec(readFileSync(PAGE, 'utf8'))?.[0]).toBe(table);
});
