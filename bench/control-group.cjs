/** Control groups with a limit, for benchmarks and tests of them. Linux, as root. */
const fs = require('node:fs');

const ROOT = '/sys/fs/cgroup';
const PERIOD_US = 100_000;

/** Of each controller the files of its limit, in versions 2 and 1, by what is written to them. */
const LIMITS = {
  cpu: (cores) => [
    { 'cpu.max': `${cores * PERIOD_US} ${PERIOD_US}` },
    { 'cpu.cfs_period_us': PERIOD_US, 'cpu.cfs_quota_us': cores * PERIOD_US },
  ],
  memory: (bytes) => [{ 'memory.max': bytes }, { 'memory.limit_in_bytes': bytes }],
};

/**
 * A group of version 2 where that has the controller, else of version 1: { through, remove }. What is
 * run by `through` is in it. Throws where none can be made.
 *
 * @param {string} name
 * @param {'cpu' | 'memory'} controller
 * @param {number} amount cores, or bytes
 */
function makeControlGroup(name, controller, amount) {
  const controllers = `${ROOT}/cgroup.controllers`;
  const isVersion2 =
    fs.existsSync(controllers) &&
    fs.readFileSync(controllers, 'utf8').trim().split(' ').includes(controller);
  const files = LIMITS[controller](amount)[isVersion2 ? 0 : 1];
  const parent = isVersion2 ? ROOT : `${ROOT}/${controller}`;
  if (isVersion2) fs.writeFileSync(`${ROOT}/cgroup.subtree_control`, `+${controller}`);
  else if (!fs.existsSync(`${parent}/${Object.keys(files)[0]}`)) {
    throw new Error(`no ${controller} controller`);
  }
  const folder = `${parent}/${name}`;
  fs.mkdirSync(folder);
  for (const [file, value] of Object.entries(files)) {
    fs.writeFileSync(`${folder}/${file}`, String(value));
  }
  return {
    through: ['sh', '-c', `echo $$ > ${folder}/cgroup.procs && exec "$0" "$@"`],
    remove: () => fs.rmdirSync(folder),
  };
}

module.exports = { makeControlGroup };
