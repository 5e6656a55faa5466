/**
 * The stored ratios against FastAPI, of encoders those against the best peer: a run is compared with those of machines
 * of its own type, or replaces them. On another type of machine a ratio says nothing: there the reference gains by other
 * instructions than we do.
 */
import fs from 'node:fs';
import path from 'node:path';
import { machineType } from './machine.mjs';
import { BENCH } from './paths.mjs';
import { writeJson } from './report.mjs';

const FILE = path.join(BENCH, 'baseline.json');
const PEER = 'fastapi';

/** [key of what is stored, what is said of it, the ratio] of what a run measured. */
function measuredRatios({ ratios, best }) {
  if (best)
    return best.map(({ cell, rps }) => [
      cell,
      `${cell}: ${rps.median} × the best peer`,
      rps.median,
    ]);
  return ratios
    .filter(({ peer }) => peer === PEER)
    .map(({ clients, rps: { median } }) => [
      clients,
      `${clients} clients: ${median} × ${PEER}`,
      median,
    ]);
}

/** Store the ratios of the levels that were measured, for this type of machine. */
export function storeBaseline(service, summary, machine) {
  writeJson(FILE, withStored(readBaseline(), { service, summary, machine }));
  console.log(`stored in ${FILE} for ${machineType(machine)}`);
}

/** Print how each level compares; true when one has fallen by more than the file allows. */
export function regressed(service, summary, machine) {
  const { lines, fallen } = compare(readBaseline(), { service, summary, machine });
  for (const line of lines) console.log(line);
  return fallen;
}

/** A copy of the baseline in which the run's ratios are those of its type of machine. */
export function withStored(baseline, { service, summary, machine }) {
  const type = machineType(machine);
  const stored = baseline.services[service] ?? [];
  const measured = measuredRatios(summary).map(([key, , ratio]) => [key, ratio]);
  const before = stored.find((entry) => entry.machine === type);
  const entry = { machine: type, ratios: { ...before?.ratios, ...Object.fromEntries(measured) } };
  const others = stored.filter((each) => each !== before);
  return { ...baseline, services: { ...baseline.services, [service]: [...others, entry] } };
}

/** What is said of each level, and whether one has fallen by more than the baseline allows. */
export function compare(baseline, { service, summary, machine }) {
  const measured = measuredRatios(summary);
  if (measured.length === 0) {
    return { lines: [`not compared: ${PEER} was not measured`], fallen: false };
  }
  const type = machineType(machine);
  const stored = baseline.services[service] ?? [];
  const own = stored.find((entry) => entry.machine === type);
  const each = measured.map(([key, said, ratio]) =>
    judge({ said, ratio, stored: own?.ratios[key] }, baseline.allowed_fall),
  );
  const lines = each.map(({ line }) => line);
  if (own === undefined) {
    const others = stored.map((entry) => entry.machine).join('; ') || 'none';
    lines.push(`nothing is stored for ${type} (--store does it); there is for: ${others}`);
  }
  return { lines, fallen: each.some(({ fallen }) => fallen) };
}

/** Of one level. */
function judge({ said, ratio, stored }, allowedFall) {
  if (stored === undefined) {
    return { line: `${said}, none stored for this type of machine`, fallen: false };
  }
  if (ratio < stored * (1 - allowedFall)) {
    const percent = Math.round(100 * allowedFall);
    const line = `REGRESSION: ${said}, stored ${stored}: more than ${percent} % below`;
    return { line, fallen: true };
  }
  const better = ratio > stored * (1 + allowedFall);
  return {
    line: `${said}, stored ${stored}: ${better ? 'better (--store keeps it)' : 'within noise'}`,
    fallen: false,
  };
}

const readBaseline = () => JSON.parse(fs.readFileSync(FILE, 'utf8'));
