/** What a build needs on the machine, checked before it begins. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
/** Major and minor version. */
const NODE_MINIMUM = engines.node.match(/\d+/g).map(Number);

/** One line for each missing tool: what it is for and how to get it. Empty when all is there. */
export function missingPrerequisites() {
  const missing = [];
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < NODE_MINIMUM[0] || (major === NODE_MINIMUM[0] && minor < NODE_MINIMUM[1])) {
    missing.push(`Node.js ${NODE_MINIMUM.join('.')} or newer (this is ${process.versions.node})`);
  }
  if (!compilesCxx20()) {
    missing.push(`a C++20 compiler (tried ${compiler()}; CXX names another): apt-get install g++`);
  }
  if (!runs('cmake')) missing.push('CMake 3.25 or newer: apt-get install cmake');
  if (!runs('cargo'))
    missing.push('Rust with cargo (for the tokenizer): see rust-lang.org, "Install"');
  return missing;
}

function compiler() {
  return process.env.CXX || 'c++';
}

function compilesCxx20() {
  const run = spawnSync(compiler(), ['-std=c++20', '-fsyntax-only', '-x', 'c++', '-'], {
    input:
      '#include <concepts>\n#include <span>\ntemplate <std::integral T> T same(T v) { return v; }\n',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  return run.status === 0;
}

function runs(command, args = ['--version']) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
