/** Servers of one model under closed-loop load, one after another, and their figures as tables. */
import fs from 'node:fs';
import path from 'node:path';
import { load, prepareRequest } from './load.mjs';
import { describeMachine } from './machine.mjs';
import { BUILD } from './paths.mjs';
import { median } from './report.mjs';
import { freePort, startProcess } from './servers.mjs';

/** A server, when it answers `body` on `route`. */
async function start(side, { commandOf, route, body }) {
  const port = await freePort();
  const { run, env } = commandOf(side, port);
  const log = path.join(BUILD, `served-${side}.log`);
  const stdio = ['ignore', fs.openSync(log, 'w'), fs.openSync(log, 'a')];
  const { child, stop } = startProcess(run, { env, stdio });
  for (let tries = 0; tries < 1200; tries++) {
    const answer = await ask(port, route, body).catch(() => null);
    if (answer !== null) return { port, stop };
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await stop();
  throw new Error(`${side} did not start, see ${log}`);
}

async function ask(port, route, body) {
  const headers = { 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${port}${route}`;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function measure(side, plan) {
  const { route, bodies, clients, seconds, describe } = plan;
  const [first] = Object.values(bodies);
  const { port, stop } = await start(side, { ...plan, body: first[0] });
  try {
    const found = {};
    for (const [kind, own] of Object.entries(bodies)) {
      const requests = own.map((body) => prepareRequest(route, JSON.stringify(body)));
      for (const count of clients) {
        const result = await load({ port, requests, clients: count, seconds, warmup: 1 });
        if (result.bad > 0) throw new Error(`${side}: ${result.bad} requests failed`);
        const { rps, p50_ms } = result;
        found[`${kind}, ${count} clients`] = { rps, p50_ms };
      }
    }
    return { found, answer: describe(await ask(port, route, first[0])) };
  } finally {
    await stop();
  }
}

/**
 * Measures all sides in turn, checks that those with the same numbers answer the same, and prints tables.
 *
 * plan: sides; commandOf(side, port) → { run, env }; route; bodies: requests by name; clients: numbers of clients;
 * seconds; rounds; describe(answer): what must be equal; isExact(side); isPeer(side).
 */
export async function compareServed(plan) {
  const { sides, rounds: count, isExact, isPeer } = plan;
  console.log(describeMachine());
  const rounds = [];
  for (let round = 0; round < count; round++) {
    const answers = {};
    for (const side of sides) answers[side] = await measure(side, plan);
    rounds.push(answers);
  }
  const exact = sides.filter(isExact).map((side) => rounds[0][side].answer);
  if (new Set(exact).size > 1) throw new Error(`the answers differ: ${exact.join(' | ')}`);
  const cells = Object.keys(rounds[0][sides[0]].found);
  const medianOf = (side, cell, figure) =>
    median(rounds.map((answers) => answers[side].found[cell][figure]));
  const figures = (side, cell) => {
    const [rps, p50] = ['rps', 'p50_ms'].map((figure) => medianOf(side, cell, figure));
    return `${rps.toPrecision(3)}/s, p50 ${p50.toPrecision(3)} ms`;
  };
  const rowOf = (cell) => Object.fromEntries(sides.map((side) => [side, figures(side, cell)]));
  console.table(Object.fromEntries(cells.map((cell) => [cell, rowOf(cell)])));
  const peers = sides.filter(isPeer);
  if (peers.length === 0) return;
  const best = (cell) => Math.max(...peers.map((side) => medianOf(side, cell, 'rps')));
  for (const side of sides.filter((one) => !isPeer(one))) {
    const ratios = cells.map((cell) => {
      const ratio = medianOf(side, cell, 'rps') / best(cell);
      return `${cell}: ${ratio.toFixed(2)}`;
    });
    console.log(`${side}, requests/s as a multiple of the fastest peer: ${ratios.join('; ')}`);
  }
}
