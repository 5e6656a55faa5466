import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../helpers/service';
import { read } from './facts';

it('the throughput figure is up to date with bench/results', () => {
  const script = path.join(ROOT, 'scripts', 'throughput-figure.mjs');
  execFileSync(process.execPath, [script, '--check']); // throws if the exit code is not 0
});

it.each(['eeg', 'sentiment', 'embedding', 'reranking', 'tagging'])(
  'the throughput figure has the best peer of bench/results/%s.json',
  (service) => {
    const { servers } = JSON.parse(read(`bench/results/${service}.json`));
    const svg = read('docs/assets/throughput.svg');
    const clients = { reranking: 4, tagging: 8 }[service] ?? 64;
    const rates: readonly number[] = servers
      .filter(({ server }: { server: string }) => !server.startsWith('libtorch-serve'))
      .map(({ levels }: { levels: { clients: number; rps: { median: number } }[] }) =>
        levels.find((level) => level.clients === clients),
      )
      .map((level: { rps: { median: number } }) => level.rps.median);
    const best = Math.max(...rates);
    const shown = (best >= 100 ? Math.round(best) : best).toLocaleString('en-US');
    expect(svg).toContain(`>${shown}</text>`);
  },
);
