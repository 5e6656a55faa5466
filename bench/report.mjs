/** What the rounds say: medians, ratios, the share of the ceiling; as a table and as a file. */
import fs from 'node:fs';
import { OURS, OURS_INT8 } from './servers.mjs';

/** Decimals of what is written, by measurement. */
const DECIMALS = {
  rps: 1,
  p50_ms: 2,
  p95_ms: 2,
  p99_ms: 2,
  bad: 0,
  health_p99_ms: 1,
  cpu_s_per_1000: 2,
  useful_gflops: 1,
};

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** What each side measured, in their order, for each round; each side goes first in half of the rounds. */
export async function inTurn(sides, rounds, measure) {
  const all = [];
  for (let round = 0; round < rounds; round++) {
    const measured = new Map();
    for (const side of round % 2 ? sides.toReversed() : sides)
      measured.set(side, await measure(side));
    all.push(sides.map((side) => measured.get(side)));
  }
  return all;
}

/** Into a file of entries by type of machine; what was not measured this time stays as it is. */
export function storeModels(file, type, models) {
  const stored = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : [];
  const before = stored.find((entry) => entry.machine === type);
  const others = stored.filter((entry) => entry !== before);
  const own = {
    machine: type,
    date: new Date().toISOString(),
    models: merged(before?.models ?? {}, models),
  };
  writeJson(file, [...others, own]);
  console.log(`stored in ${file} for ${type}`);
}

/** Both, one inside the other; what the second has counts. */
function merged(first, second) {
  const isObject = (value) => typeof value === 'object' && value !== null;
  const entries = Object.entries(second).map(([key, value]) => [
    key,
    isObject(value) ? merged(first[key] ?? {}, value) : value,
  ]);
  return { ...first, ...Object.fromEntries(entries) };
}

/** A measurement over the rounds. */
function over(values, decimals) {
  const round = (value) => Number(value.toFixed(decimals));
  return { median: round(median(values)), rounds: values.map(round) };
}

/** rounds: what runRound returned, one after the other. Everything that the file says of them. */
export function summarize(rounds) {
  const names = [...rounds[0].servers.keys()];
  const measured = rounds[0].gemm !== null;
  const servers = names.map((server) => {
    const own = rounds.map((round) => round.servers.get(server));
    const levels = own[0].levels.map(({ load, clients }, i) => {
      const keys = Object.keys(DECIMALS).filter((key) => measured || key !== 'useful_gflops');
      const entries = keys.map((key) => [
        key,
        over(
          own.map((run) => run.levels[i][key]),
          DECIMALS[key],
        ),
      ]);
      return { ...(load ? { load } : {}), clients, ...Object.fromEntries(entries) };
    });
    const of = (key, decimals) =>
      over(
        own.map((run) => run[key]),
        decimals,
      );
    return {
      server,
      cold_start_s: of('cold_start_s', 2),
      idle_mb: of('idle_mb', 0),
      peak_mb: of('peak_mb', 0),
      levels,
    };
  });
  const each = ratios(rounds);
  const field = names.includes(OURS_INT8) ? { best: best(each) } : {};
  return { servers, ratios: each, ...field, ...(measured ? { ceiling: ceiling(rounds) } : {}) };
}

/**
 * How many times the peer's requests per second; how much shorter the median latency, and less processor time. What
 * is in 8 bits is beside what of ours is.
 */
function ratios(rounds) {
  const peers = [...rounds[0].servers.keys()].filter((name) => ![OURS, OURS_INT8].includes(name));
  return peers.flatMap((peer) =>
    rounds[0].servers.get(peer).levels.map(({ load, clients }, i) => {
      const ours = peer.endsWith('-int8') ? OURS_INT8 : OURS;
      const each = (ratio) =>
        rounds.map(({ servers }) =>
          ratio(servers.get(ours).levels[i], servers.get(peer).levels[i]),
        );
      const rps = over(
        each((ours, theirs) => ours.rps / theirs.rps),
        2,
      );
      const p50 = over(
        each((ours, theirs) => theirs.p50_ms / ours.p50_ms),
        2,
      );
      const cpu = over(
        each((ours, theirs) => theirs.cpu_s_per_1000 / ours.cpu_s_per_1000),
        2,
      );
      return { peer, ...(load ? { load } : {}), clients, rps, p50, cpu };
    }),
  );
}

/** Of each load the ratio to the peer that is best at it: of requests per second, median latency, processor time. */
function best(all) {
  const cellOf = ({ peer, load, clients }) =>
    `${load}, ${clients} clients, ${peer.endsWith('-int8') ? 'int8' : 'float32'}`;
  return [...new Set(all.map(cellOf))].map((cell) => {
    const peers = all.filter((each) => cellOf(each) === cell);
    const least = (key) => {
      const [first] = peers.toSorted((a, b) => a[key].median - b[key].median);
      return { peer: first.peer, ...first[key] };
    };
    return { cell, rps: least('rps'), p50: least('p50'), cpu: least('cpu') };
  });
}

/** The GEMM rate, and our useful FLOPs as a share of it, at each level. */
function ceiling(rounds) {
  const of = (key) =>
    over(
      rounds.map(({ gemm }) => gemm[key]),
      1,
    );
  const levels = rounds[0].servers.get(OURS).levels.map(({ clients }, i) => ({
    clients,
    share: over(
      rounds.map(
        ({ servers, gemm }) => servers.get(OURS).levels[i].useful_gflops / gemm.all_gflops,
      ),
      3,
    ),
  }));
  return {
    processes: rounds[0].gemm.processes,
    all_gflops: of('all_gflops'),
    one_gflops: of('one_gflops'),
    levels,
  };
}

/** Print the summary. */
export function print({ servers, ratios, best, ceiling }) {
  console.table(
    servers.flatMap(({ server, cold_start_s, idle_mb, peak_mb, levels }) =>
      levels.map((level) => ({
        server,
        ...(level.load ? { load: level.load } : {}),
        clients: level.clients,
        'requests/s': level.rps.median,
        'p50 ms': level.p50_ms.median,
        'p95 ms': level.p95_ms.median,
        'p99 ms': level.p99_ms.median,
        'not 200': level.bad.rounds.reduce((sum, bad) => sum + bad, 0),
        'health p99 ms': level.health_p99_ms.median,
        'CPU s/1000': level.cpu_s_per_1000.median,
        'peak MB': peak_mb.median,
        'idle MB': idle_mb.median,
        'cold start s': cold_start_s.median,
      })),
    ),
  );
  for (const { peer, load, clients, rps, p50, cpu } of ratios) {
    console.log(
      `${load ? `${load}, ` : ''}${clients} clients: ${rps.median} × the requests/s of ${peer} (rounds ${rps.rounds.join(', ')}), ` +
        `${p50.median} × shorter p50, ${cpu.median} × less processor time a request`,
    );
  }
  for (const { cell, rps, p50, cpu } of best ?? []) {
    console.log(
      `${cell}: ${rps.median} × the requests/s of the best (${rps.peer}), ${p50.median} × shorter p50 (${p50.peer}), ` +
        `${cpu.median} × less processor time a request (${cpu.peer})`,
    );
  }
  if (!ceiling) return;
  const { processes, all_gflops, one_gflops, levels } = ceiling;
  console.log(
    `ceiling: packed float32 GEMM, ${all_gflops.median} GFLOP/s in ${processes} processes at once ` +
      `(one alone: ${one_gflops.median})`,
  );
  for (const { clients, share } of levels) {
    const useful = servers[0].levels.find((level) => level.clients === clients).useful_gflops;
    console.log(
      `${clients} clients: ${useful.median} useful GFLOP/s, ${(100 * share.median).toFixed(1)} % of the ceiling`,
    );
  }
}

/** What is put on one line, at most: as the formatter of the project has it. */
const LONGEST_LIST = 80;

/** Indented JSON, with short lists of numbers or strings, and measurements, on one line. */
export function writeJson(file, value) {
  const text = JSON.stringify(value, null, 2)
    .replace(/\[\s+([^[\]{}]*?)\s+\]/g, (list, items) => {
      const line = `[${items.replace(/\n\s+/g, ' ')}]`;
      return line.length > LONGEST_LIST ? list : line;
    })
    .replace(/\{\s+("median": \S+)\s+("rounds": \[.*\])\s+\}/g, '{ $1 $2 }');
  fs.writeFileSync(file, `${text}\n`);
}
