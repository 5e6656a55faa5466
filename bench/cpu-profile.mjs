/** Reads what `node --cpu-prof` writes: whose code a thread spent its time in. */
import fs from 'node:fs';

/** What V8 calls what is no function. */
const STATES = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(idle)', 'idle'],
  ['(program)', 'native code outside of JavaScript: sockets, HTTP parser, completions'],
]);

/** The samples between two times (µs, of the monotonic clock): of each the functions, innermost first, and its µs. */
export function readProfile(file, { from, to }) {
  const { nodes, samples, startTime, timeDeltas } = JSON.parse(fs.readFileSync(file, 'utf8'));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const times = new Map();
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index];
    if (at < from || at > to) continue;
    times.set(id, (times.get(id) ?? 0) + (timeDeltas[index + 1] ?? 0));
  }
  return [...times].map(([id, time]) => {
    const stack = [];
    for (let next = id; next !== undefined; next = parents.get(next)) {
      stack.push(byId.get(next).callFrame);
    }
    return { stack, time };
  });
}

/**
 * The time by owner (this package, each package of npm, Node) and by function, most first. What is written in C++ and
 * called from JavaScript, such as `writev`, counts for whoever calls it.
 *
 * @param root the checkout whose dist is ours
 */
export function byOwner(samples, root) {
  const [owners, functions] = [new Map(), new Map()];
  const add = (map, key, time) => map.set(key, (map.get(key) ?? 0) + time);
  for (const { stack, time } of samples) {
    const caller =
      stack.find(({ url, functionName }) => url || STATES.has(functionName)) ?? stack[0];
    add(owners, ownerOf(caller, root), time);
    const names = stack[0] === caller ? [caller] : [stack[0], caller];
    add(functions, names.map((one) => describe(one, root)).join(', called by '), time);
  }
  const most = (map) => [...map].sort(([, a], [, b]) => b - a);
  return { owners: most(owners), functions: most(functions) };
}

function ownerOf({ url, functionName }, root) {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (name) return `npm: ${name}`;
  if (url.includes(`${root}/dist/`)) return 'ours';
  return STATES.get(functionName) ?? 'Node';
}

function describe({ url, functionName, lineNumber }, root) {
  const place = url.replace('file://', '').replace(`${root}/`, '');
  return (
    STATES.get(functionName) ??
    `${functionName || '(anonymous)'} ${place && `${place}:${lineNumber + 1}`}`.trim()
  );
}
