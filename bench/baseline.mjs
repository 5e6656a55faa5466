/** The stored ratios against FastAPI: a run is compared with them, or replaces them. */
import fs from 'node:fs';
import path from 'node:path';
import { BENCH } from './paths.mjs';
import { writeJson } from './report.mjs';

const FILE = path.join(BENCH, 'baseline.json');
const PEER = 'fastapi';

const measuredRatios = (summary) => summary.ratios.filter(({ peer }) => peer === PEER);

/** Store the ratios of the levels that were measured. */
export function storeBaseline(service, summary, machine) {
  const baseline = JSON.parse(fs.readFileSync(FILE, 'utf8'));
  const stored = baseline.services[service];
  stored.machine = kindOf(machine);
  for (const { clients, rps } of measuredRatios(summary)) stored.ratios[clients] = rps.median;
  writeJson(FILE, baseline);
  console.log(`stored in ${FILE}`);
}

/** Print how each level compares; true when one has fallen by more than the file allows. */
export function regressed(service, summary, machine) {
  const { allowed_fall, services } = JSON.parse(fs.readFileSync(FILE, 'utf8'));
  const measured = measuredRatios(summary);
  if (measured.length === 0) console.log(`not compared with ${FILE}: ${PEER} was not measured`);
  let fallen = false;
  for (const { clients, rps } of measured) {
    const stored = services[service].ratios[clients];
    const said = `${clients} clients: ${rps.median} × ${PEER}`;
    if (stored === undefined) {
      console.log(`${said}, none stored`);
    } else if (rps.median < stored * (1 - allowed_fall)) {
      fallen = true;
      console.log(`REGRESSION: ${said}, stored ${stored}: more than ${100 * allowed_fall} % below`);
    } else if (rps.median > stored * (1 + allowed_fall)) {
      console.log(`${said}, stored ${stored}: better (--store keeps it)`);
    } else {
      console.log(`${said}, stored ${stored}: within noise`);
    }
  }
  const kind = kindOf(machine);
  if (kind !== services[service].machine) {
    console.log(`note: stored on ${services[service].machine}; this is ${kind}`);
  }
  return fallen;
}

/** What decides about ratios; two machines of a kind may be compared. */
function kindOf({ cpu, cores, flags }) {
  return `${cpu}, ${cores} cores, ${(flags ?? ['no AVX']).join(' ')}`;
}
