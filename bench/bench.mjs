/**
 * Measure this server and its peers in turn, on the same cores, with the same bodies.
 *
 *   npm run bench -- [--service sentiment|eeg|models|embedding|decoder-embedding|reranking|…]
 *                    [--peers fastapi,fastapi-tuned,node-ort,single,…]
 *                    [--clients 1,8,64] [--seconds 8] [--warmup 2] [--rounds 3]
 *                    [--python VENV/bin/python] [--tei PATH] [--store | --model DIRECTORY]
 *
 * README.md says what is measured and how to read it. Exit code: 0; 1 when a ratio that is stored
 * has fallen below what is stored for this type of machine, or something failed; 2 when the command
 * line is wrong.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { regressed, storeBaseline } from './baseline.mjs';
import { makeBodies } from './bodies.mjs';
import { FIELD, TEI } from './field/services.mjs';
import { setUpField } from './field/setup.mjs';
import { usefulFlopsOf } from './flops.mjs';
import { prepareRequest } from './load.mjs';
import { describeMachine } from './machine.mjs';
import { runRound } from './measure.mjs';
import { BENCH } from './paths.mjs';
import { print, summarize, writeJson } from './report.mjs';
import { OURS, OURS_INT8, PEER_NAMES, ROUTES, routeOf } from './servers.mjs';
import { SetupError, setUp } from './setup.mjs';

const BODIES = 2000;
/** How many of their answers are compared. */
const COMPARED = 200;
const PEERS = [...new Set(Object.values(PEER_NAMES).flat())];

class UsageError extends Error {}

function readArguments() {
  const text = (value) => ({ type: 'string', default: value });
  const options = {
    service: text('sentiment,eeg'),
    peers: text(PEERS.join(',')),
    clients: { type: 'string' },
    seconds: text('8'),
    warmup: text('2'),
    rounds: text('3'),
    python: { type: 'string' },
    tei: { type: 'string' },
    store: { type: 'boolean', default: false },
    model: { type: 'string' },
  };
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  if (values.model !== undefined) applyModel(values);
  const services = namesOf('service', values.service, Object.keys(ROUTES));
  if (values.store && services.includes('models')) {
    throw new UsageError(
      '--store: the stored ratios are those against FastAPI, which has no models',
    );
  }
  if (values.tei !== undefined && !fs.existsSync(values.tei)) {
    throw new UsageError(`--tei: no file ${values.tei}`);
  }
  // Nothing here builds or downloads this peer.
  const isMeasured = (name) => name !== TEI || values.tei !== undefined;
  const peers = namesOf('peers', values.peers, PEERS).filter(isMeasured);
  const left = services.flatMap((service) => FIELD[service]?.peers ?? []).filter(isMeasured);
  if (values.store && left.some((name) => !peers.includes(name))) {
    throw new UsageError('--store: the ratios to the best peer need all of them, so no --peers');
  }
  return {
    services,
    peers,
    clients: values.clients?.split(',').map((each) => numberOf('clients', each)),
    seconds: numberOf('seconds', values.seconds),
    warmup: numberOf('warmup', values.warmup),
    rounds: numberOf('rounds', values.rounds),
    python: values.python,
    tei: values.tei && path.resolve(values.tei),
    store: values.store,
    model: values.model,
  };
}

/** Another model than the shipped one: of texts, not exported to ONNX, and no ratios are stored. */
function applyModel(values) {
  if (values.store) throw new UsageError('--store: the stored ratios are those of shipped models');
  if (!fs.existsSync(path.join(values.model, 'config.json'))) {
    throw new UsageError(`--model: ${values.model} has no config.json`);
  }
  values.model = path.resolve(values.model);
  values.service = 'sentiment';
  const peers = values.peers.split(',').filter((name) => name !== 'node-ort');
  values.peers = peers.join(',') || 'fastapi';
}

function namesOf(option, list, known) {
  const names = list.split(',');
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`--${option}: "${unknown}" is none of ${known.join(', ')}`);
  }
  return names;
}

function numberOf(option, text) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) {
    throw new UsageError(`--${option}: "${text}" is no whole number from 1`);
  }
  return number;
}

/** What is asked of a service: bodies, and by how many clients. */
function loadsOf(service, clients) {
  const loads = FIELD[service]?.loads() ?? [
    { bodies: makeBodies(service, BODIES), clients: [1, 8, 64], compared: COMPARED },
  ];
  return loads.map((load) => ({
    ...load,
    clients: clients ?? load.clients,
    requestsOf: (name) => load.bodies.map((body) => prepareRequest(routeOf(name, service), body)),
  }));
}

/** Measure one service; true when it has regressed. */
async function bench(service, options, python) {
  const { seconds, warmup, rounds: count, model } = options;
  const loads = loadsOf(service, options.clients);
  const [loadBefore] = os.loadavg();
  const ours = FIELD[service] ? [OURS, OURS_INT8] : [OURS];
  const plan = {
    service,
    servers: [...ours, ...PEER_NAMES[service].filter((name) => options.peers.includes(name))],
    loads,
    work: service === 'sentiment' && !model ? usefulFlopsOf(loads[0].bodies, python) : null,
    python,
    tei: options.tei,
    model,
    seconds,
    warmup,
  };
  const rounds = [];
  for (let round = 0; round < count; round += 1) {
    console.log(`${service}, round ${round + 1} of ${count}`);
    rounds.push(await runRound(plan, { compare: round === 0 }));
  }
  const summary = summarize(rounds);
  print(summary);
  if (model) return false;
  const [machine, date] = [describeMachine(), new Date().toISOString()];
  const file = path.join(BENCH, `results/${service}.json`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  writeJson(file, {
    service,
    date,
    machine,
    load_average_before: loadBefore,
    options: {
      clients: FIELD[service] ? (options.clients ?? 'of each load') : loads[0].clients,
      ...{ seconds, warmup, rounds: count },
    },
    ...summary,
  });
  console.log(`written to ${file}`);
  if (service === 'models') return false;
  if (!options.store) return regressed(service, summary, machine);
  storeBaseline(service, summary, machine);
  return false;
}

async function main() {
  if (process.platform !== 'linux') {
    throw new SetupError('CPU time and memory are read from /proc: the benchmarks need Linux');
  }
  const options = readArguments();
  const { services } = options;
  const peers = options.peers.filter((name) =>
    services.some((service) => PEER_NAMES[service].includes(name)),
  );
  const sentiment = services.includes('sentiment');
  const encoders = services.filter((service) => FIELD[service]);
  const nodeOrt = peers.some((name) => name.startsWith('node-ort'));
  const needsPython = services.some((service) => service !== 'models');
  const needs = { nodeOrt, sentiment, encoders: encoders.length > 0 };
  const python = needsPython ? setUp({ python: options.python, ...needs }) : null;
  if (encoders.length > 0) setUpField({ services: encoders, peers, python });
  for (const service of options.services) {
    if (await bench(service, options, python)) process.exitCode = 1;
  }
}

try {
  await main();
} catch (error) {
  const known = error instanceof UsageError || error instanceof SetupError;
  console.error(known ? `bench: ${error.message}` : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
