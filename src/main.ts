#!/usr/bin/env node
// First: it works beside the imports that follow.
import './native/open-early';

import path from 'node:path';
import { EXIT_USAGE, fail } from './commands/exit';
import { installWhatIsMissing, runScript } from './commands/install';
import { serve } from './commands/serve/run';
import { packageVersion } from './package-version';
import { ConfigError, helpText, readCommand } from './settings/config';
import { readEnvironment } from './settings/environment';

const PACKAGE_ROOT = path.resolve(__dirname, '..');

async function main(): Promise<void> {
  const environment = readEnvironment(PACKAGE_ROOT);
  const command = readCommand(process.argv.slice(2), environment);
  if (command.type === 'help') process.stdout.write(helpText());
  else if (command.type === 'version') process.stdout.write(`${packageVersion(PACKAGE_ROOT)}\n`);
  else if (command.type === 'build' || command.type === 'install') {
    process.exitCode = await runScript(command.type);
  } else if (command.type === 'import-torchserve') {
    type Import = typeof import('./commands/import-torchserve/command');
    const { runImportTorchserve } = require('./commands/import-torchserve/command') as Import;
    process.exitCode = runImportTorchserve(command.args, environment);
  } else {
    const exitCode = await installWhatIsMissing();
    if (exitCode !== 0) process.exitCode = exitCode;
    else if (command.type === 'serve') await serve(command.config, packageVersion(PACKAGE_ROOT));
    else process.exitCode = await runnerOf(command.type)(command.args, environment);
  }
}

/** Loaded only here: services need nothing of it. */
function runnerOf(command: 'classify' | 'inspect') {
  type Classify = typeof import('./commands/classify/command');
  type Inspect = typeof import('./commands/inspect/command');
  return command === 'classify'
    ? (require('./commands/classify/command') as Classify).runClassify
    : (require('./commands/inspect/command') as Inspect).runInspect;
}

main().catch((error: unknown) => {
  if (!(error instanceof ConfigError)) throw error;
  for (const line of error.lines) fail(line, EXIT_USAGE);
});
