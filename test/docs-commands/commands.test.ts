import net from 'node:net';
import path from 'node:path';
import { filesOfRepository, readPage } from '../docs/markdown';
import { needs } from '../helpers/needs';
import { killAll, ROOT, startService } from '../helpers/service';
import { setTestLimit } from '../helpers/until';
import { Checkout, type Ended, type Ports } from './checkout';
import { COMMANDS_NOT_RUN, PAGES_NOT_RUN } from './not-run';
import { type Step, stepsOf } from './steps';

/** Of a page. */
setTestLimit(300_000);
/** What the processor may do to a probability (src/protocols/openapi/examples.ts). */
const TOLERANCE = 0.001;
const DECIMAL = /\d+\.\d+/g;

/** Programs that readers have, and that a machine which runs the tests may lack. */
const PROGRAMS = ['curl', 'openssl'] as const;

const pages = filesOfRepository()
  .filter((file) => file.endsWith('.md'))
  .map((file) => ({ file, steps: stepsOf(readPage(file)) }))
  .filter(({ steps }) => steps.length > 0);

const isRun = (step: Step): boolean =>
  step.kind === 'module' || !Object.hasOwn(COMMANDS_NOT_RUN, step.command);

const pagesToRun = pages
  .filter(({ file }) => !Object.hasOwn(PAGES_NOT_RUN, file))
  .map(({ file, steps }) => ({ file, steps: steps.filter(isRun) }))
  .filter(({ steps }) => steps.length > 0);

function programsOf(steps: readonly Step[]): readonly (typeof PROGRAMS)[number][] {
  const all = steps.map((step) => (step.kind === 'module' ? '' : step.command)).join('\n');
  return PROGRAMS.filter((name) => new RegExp(`\\b${name}\\b`).test(all));
}

/** The text, with decimals alike and `…` for anything. */
function pattern(text: string): RegExp {
  const escaped = text.replaceAll(DECIMAL, '0.0').replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…', '.*')}$`, 's');
}

function expectOutput(actual: string, expected: string): void {
  const numbers = (text: string) => (text.match(DECIMAL) ?? []).map(Number);
  const isAlike = pattern(expected).test(actual.replaceAll(DECIMAL, '0.0'));
  expect(isAlike ? expected : actual).toBe(expected);
  if (expected.includes('…')) return;
  const [have, want] = [numbers(actual), numbers(expected)];
  const far = want.filter((number, i) => Math.abs(number - (have[i] ?? Number.NaN)) > TOLERANCE);
  expect(far.length === 0 ? expected : actual).toBe(expected);
}

async function take(checkout: Checkout, step: Step): Promise<void> {
  const ended: Ended = await (step.kind === 'module'
    ? checkout.runModule(step.code)
    : checkout.run(step.command));
  if (ended.code !== 0) {
    throw new Error(`ended with ${ended.code}: ${ended.stderr}${ended.stdout}`);
  }
  if (step.kind === 'compared') expectOutput(ended.stdout.trimEnd(), step.output);
}

/** What pages say that services listen on, or that others do. */
const USUAL_PORTS = /(?:\blocalhost:|PORT=)(\d{4,5})\b/g;

/**
 * Takes the ports that the pages name, where nobody has them, and ends every connection to them: so each
 * command is seen to work where they are taken, and to ask none of them.
 */
async function takeUsualPorts(): Promise<readonly net.Server[]> {
  const named = filesOfRepository()
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => [...readPage(file).text.matchAll(USUAL_PORTS)])
    .map(([, port]) => Number(port));
  const servers = [...new Set([8000, 8001, 8002, ...named])].map(
    (port) =>
      new Promise<net.Server>((resolve) => {
        const server = net.createServer((socket) => socket.destroy());
        server.on('error', () => resolve(server)).listen(port, () => resolve(server));
      }),
  );
  return Promise.all(servers);
}

let ports: Ports;
let taken: readonly net.Server[] = [];
const checkouts: Checkout[] = [];

beforeAll(async () => {
  taken = await takeUsualPorts();
  const [sentiment, eeg] = await Promise.all([
    startService('sentiment'),
    startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg') }),
  ]);
  ports = { sentiment: sentiment.port, eeg: eeg.port };
});

afterAll(async () => {
  // Those of tests that ran out of time.
  await Promise.all(checkouts.map((checkout) => checkout.end()));
  await killAll();
  for (const server of taken) server.close();
});

it('compares as it says', () => {
  expectOutput('{"score":0.9824}', '{"score":0.982}');
  expectOutput('a long one', 'a … one');
  const differ = [
    ['{"score":0.99}', '{"score":0.982}'],
    ['{"label":"A"}', '{"label":"B"}'],
    ['another', 'a … one'],
    ['0.5', '0.5 0.5'],
  ] as const;
  for (const [actual, expected] of differ) {
    expect(() => expectOutput(actual, expected)).toThrow();
  }
});

it('what is not run is there, and has a reason', () => {
  const commands = new Set(
    pages.flatMap(({ steps }) => steps.map((step) => (step.kind === 'module' ? '' : step.command))),
  );
  const files = new Set(filesOfRepository());
  expect(Object.keys(COMMANDS_NOT_RUN).filter((command) => !commands.has(command))).toEqual([]);
  expect(Object.keys(PAGES_NOT_RUN).filter((file) => !files.has(file))).toEqual([]);
  expect(pagesToRun.length).toBeGreaterThan(5);
});

for (const { file, steps } of pagesToRun) {
  const title = `${file}: ${steps.length} commands do what it says`;
  needs(...programsOf(steps)).it(title, async () => {
    const checkout = new Checkout(ports);
    checkouts.push(checkout);
    try {
      for (const step of steps) {
        await take(checkout, step).catch((error: Error) => {
          const what = step.kind === 'module' ? step.code : step.command;
          throw new Error(`${what}\n\n${error.message}`);
        });
      }
    } finally {
      await checkout.end();
    }
  });
}
