/** Which licences may be used, and where. */
import parse from 'spdx-expression-parse';

/** Anywhere. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'Apache-2.0 WITH LLVM-exception',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BSL-1.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
]);

/** In what builds and tests, and is never passed on. */
const FOR_DEVELOPMENT = new Set(['CC-BY-3.0', 'CC-BY-4.0', 'MPL-2.0']);

/** In the unchanged shared libraries beside LibTorch: their terms allow passing those on. */
const IN_LIBRARIES = new Set([
  'GPL-3.0-or-later WITH GCC-exception-3.1',
  'LicenseRef-NVIDIA-CUDA-EULA',
  'LicenseRef-NVIDIA-NVPL-EULA',
]);

/**
 * Why a component may not be used, and what to do; or undefined.
 *
 * @param what 'npm', 'crate' or 'library'
 */
export function licenceProblem(what, { name, version, licence, ships }) {
  const start = `${what} ${name} ${version}`;
  const advice =
    'replace it, or have its terms read and add the licence to scripts/supply-chain/licences.mjs';
  if (!licence) return `${start}: names no licence; ${advice}`;
  let expression;
  try {
    expression = parse(licence.replaceAll(/\s*\/\s*/g, ' OR ')); // crates of old say MIT/Apache-2.0
  } catch (error) {
    return `${start}: its licence "${licence}" is no SPDX expression (${error.message}); ${advice}`;
  }
  if (holds(expression, (id) => isAllowed(id, what, ships))) return undefined;
  const where = ships ? 'what is passed on' : 'what builds and tests';
  return `${start}: its licence "${licence}" is not among those allowed in ${where}; ${advice}`;
}

function isAllowed(id, what, ships) {
  if (ALLOWED.has(id)) return true;
  return what === 'library' ? IN_LIBRARIES.has(id) : !ships && FOR_DEVELOPMENT.has(id);
}

function holds(node, allowed) {
  if (node.conjunction === 'and') return holds(node.left, allowed) && holds(node.right, allowed);
  if (node.conjunction === 'or') return holds(node.left, allowed) || holds(node.right, allowed);
  const exception = node.exception ? ` WITH ${node.exception}` : '';
  return allowed(`${node.license}${node.plus ? '+' : ''}${exception}`);
}
