/**
 * What an answered request costs in processor time, by thread: of the event loop, of V8's and libuv's own threads, and
 * of the engine's. Other work on the machine hardly changes it. With another built checkout, both in turn.
 *
 * Usage: node bench/loop.mjs [OTHER_CHECKOUT] [--service eeg,sentiment] [--clients 8] [--rounds 20] [--seconds 1]
 *        node bench/loop.mjs --profile [--service eeg] [--seconds 5]    where the event loop's time goes, by whose code it is
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { byOwner, readProfile } from './cpu-profile.mjs';
import { load, prepareRequest } from './load.mjs';
import { ROOT } from './paths.mjs';
import { inTurn, median } from './report.mjs';
import { OURS, ROUTES, start } from './servers.mjs';

const PARTS = ['event loop', "V8's and libuv's threads", 'engine'];
const WARM_UP_SECONDS = 5;
const MOST_FUNCTIONS = 40;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: 'string', default: '8' },
    profile: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '1' },
    service: { type: 'string', default: 'eeg,sentiment' },
  },
});
const sides = [ROOT, ...positionals.map((side) => path.resolve(side))];

for (const service of options.service.split(',')) {
  const requests = makeBodies(service, 400).map((body) => prepareRequest(ROUTES[service], body));
  await (options.profile ? profile(service, requests) : compare(service, requests));
}

/** Both sides run all the time and are asked in turn, so that what else the machine does hits both alike. */
async function compare(service, requests) {
  const servers = [];
  let rounds;
  try {
    for (const root of sides) {
      servers.push(await start(OURS, { service, request: requests[0], root }));
      await warmUp(servers.at(-1), requests);
    }
    rounds = await inTurn(servers, Number(options.rounds), (server) => measure(server, requests));
  } finally {
    for (const server of servers) await server.stop();
  }
  const bad = rounds.flat().reduce((sum, side) => sum + side.bad, 0);
  console.log(`${service}, ${options.clients} clients, µs for an answer; not 200: ${bad}`);
  for (const part of [...PARTS, 'all'])
    print(
      part,
      rounds.map((round) => round.map(({ parts }) => parts[part])),
    );
}

function print(part, rounds) {
  const [ours, other] = sides.map((_, side) =>
    median(rounds.map((round) => round[side])).toFixed(1),
  );
  const ratio = median(rounds.map(([first, second = first]) => first / second)).toFixed(3);
  console.log(`  ${part}: ${ours}${other ? `, the other ${other}, ratio ${ratio}` : ''}`);
}

function planOf({ port }, requests) {
  return { port, requests, clients: Number(options.clients), warmup: 0 };
}

/** Until what is asked most has been compiled. */
async function warmUp(server, requests) {
  await load({ ...planOf(server, requests), seconds: WARM_UP_SECONDS });
}

/** Processor time by part in µs for an answer, and when that was: µs of the clock of CPU profiles. */
async function measure(server, requests) {
  const { pid } = server;
  const plan = planOf(server, requests);
  const [before, from] = [processorTime(pid), process.hrtime.bigint()];
  const { answered, bad } = await load({ ...plan, seconds: Number(options.seconds) });
  const [after, to] = [processorTime(pid), process.hrtime.bigint()];
  const parts = Object.fromEntries(
    PARTS.map((part) => [part, (after[part] - before[part]) / answered]),
  );
  parts.all = PARTS.reduce((sum, part) => sum + parts[part], 0);
  return { parts, answered, bad, from: Number(from) / 1000, to: Number(to) / 1000 };
}

/** So far, by part, in µs. */
function processorTime(pid) {
  const times = Object.fromEntries(PARTS.map((part) => [part, 0]));
  for (const thread of fs.readdirSync(`/proc/${pid}/task`)) {
    const about = (file) => fs.readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8');
    const isNodes = about('comm').trim() === 'node';
    const part = Number(thread) === pid ? PARTS[0] : isNodes ? PARTS[1] : PARTS[2];
    times[part] += Number(about('schedstat').split(' ')[0]) / 1000;
  }
  return times;
}

async function profile(service, requests) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-loop-'));
  try {
    const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=200'];
    const server = await start(OURS, { service, request: requests[0], flags });
    await warmUp(server, requests);
    const window = await measure(server, requests).finally(server.stop);
    const [name] = fs.readdirSync(folder);
    const samples = readProfile(path.join(folder, name), window);
    const { owners, functions } = byOwner(samples, ROOT);
    console.log(`${service}, ${options.clients} clients, ${window.answered} answers, µs for one`);
    tell(owners, window.answered);
    console.log('the functions that take most');
    tell(functions.slice(0, MOST_FUNCTIONS), window.answered);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function tell(times, answered) {
  for (const [name, time] of times)
    console.log(`${(time / answered).toFixed(2).padStart(8)}  ${name}`);
}
