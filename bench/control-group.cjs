/** Control groups with a CPU quota, for the benchmark and the test of them. Linux, as root. */
const fs = require('node:fs');

const ROOT = '/sys/fs/cgroup';
const PERIOD_US = 100_000;

/**
 * A group of version 2 where that has the cpu controller, else of version 1: { through, remove }. What
 * is run by `through` is in it. Throws where none can be made.
 *
 * @param {string} name
 * @param {number} cores the quota
 */
function makeControlGroup(name, cores) {
  const controllers = `${ROOT}/cgroup.controllers`;
  const isVersion2 = fs.existsSync(controllers) && /\bcpu\b/.test(fs.readFileSync(controllers));
  const folder = `${ROOT}${isVersion2 ? '' : '/cpu'}/${name}`;
  if (isVersion2) fs.writeFileSync(`${ROOT}/cgroup.subtree_control`, '+cpu');
  else if (!fs.existsSync(`${ROOT}/cpu/cpu.cfs_quota_us`)) throw new Error('no cpu controller');
  fs.mkdirSync(folder);
  const quota = String(cores * PERIOD_US);
  if (isVersion2) fs.writeFileSync(`${folder}/cpu.max`, `${quota} ${PERIOD_US}`);
  else {
    fs.writeFileSync(`${folder}/cpu.cfs_period_us`, String(PERIOD_US));
    fs.writeFileSync(`${folder}/cpu.cfs_quota_us`, quota);
  }
  return {
    through: ['sh', '-c', `echo $$ > ${folder}/cgroup.procs && exec "$0" "$@"`],
    remove: () => fs.rmdirSync(folder),
  };
}

module.exports = { makeControlGroup };
