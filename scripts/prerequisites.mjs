/** What a build needs on the machine, checked before it begins. */
import { spawnSync } from 'node:child_process';

const NODE_MINIMUM = [20, 3];

/** One line for each missing tool: what it is for and how to get it. Empty when all is there. */
export function missingPrerequisites() {
  const missing = [];
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < NODE_MINIMUM[0] || (major === NODE_MINIMUM[0] && minor < NODE_MINIMUM[1])) {
    missing.push(`Node.js ${NODE_MINIMUM.join('.')} or newer (this is ${process.versions.node})`);
  }
  if (!compilesCxx20()) {
    missing.push(
      `a C++20 compiler (tried ${compiler()}; CXX names another): ` +
        'apt-get install g++, or on macOS xcode-select --install',
    );
  }
  if (!runs('cmake'))
    missing.push('CMake 3.25 or newer: apt-get install cmake, or brew install cmake');
  if (!runs('cargo'))
    missing.push('Rust with cargo (for the tokenizer): see rust-lang.org, "Install"');
  return missing;
}

function compiler() {
  return process.env.CXX || (process.platform === 'darwin' ? 'clang++' : 'c++');
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
