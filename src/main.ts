#!/usr/bin/env node
// First import: a thread opens the addon while the other modules load.
import './native/preload-addon';

import path from 'node:path';
import { EXIT_USAGE, failWith } from './commands/exit';
import { installLibtorchIfMissing, runScript } from './commands/scripts';
import { serve } from './commands/serve/serve';
import { packageVersion } from './lib/package-version';
import { type Command, isHelpRequested, readCommand } from './settings/command-line';
import { ConfigError } from './settings/config';
import { type Environment, readEnvironment } from './settings/environment';
import { helpText } from './settings/help';

const PACKAGE_ROOT = path.resolve(__dirname, '..');

/** Runs the command of the command line. Modules that a server does not need are loaded on demand. */
async function main(): Promise<void> {
  const environment = readEnvironment(PACKAGE_ROOT);
  const version = packageVersion(PACKAGE_ROOT);
  const command = readCommand(process.argv.slice(2), environment);
  switch (command.type) {
    case 'help':
      process.stdout.write(helpText(command.isComplete));
      return;
    case 'version':
      process.stdout.write(`${version}\n`);
      return;
    case 'build':
    case 'install':
      process.exitCode = await runScript(command.type);
      return;
    case 'import-torchserve': {
      const { runImportTorchserve } = await import(
        './commands/import-torchserve/import-torchserve-command.js'
      );
      process.exitCode = runImportTorchserve(command.args, environment);
      return;
    }
  }
  const exitCode = await installLibtorchIfMissing();
  if (exitCode !== 0) process.exitCode = exitCode;
  else if (command.type === 'serve') await serve(command.config, version);
  else if (command.type === 'batch') process.exitCode = await runBatch(command, environment);
  else if (command.type === 'calibrate') {
    const { runCalibrate } = await import('./commands/calibrate/calibrate-command.js');
    process.exitCode = await runCalibrate(command.args, environment);
  } else {
    const { runInspect } = await import('./commands/inspect/inspect-command.js');
    process.exitCode = await runInspect(command.args, environment);
  }
}

async function runBatch(
  { name, args }: Extract<Command, { type: 'batch' }>,
  environment: Environment,
): Promise<number> {
  if (name === 'classify' && args.includes('--follow') && !isHelpRequested(args)) {
    const { runFollow } = await import('./commands/classify/follow/follow-command.js');
    return runFollow(args, environment);
  }
  const { runBatchCommand } = await import('./commands/batch/batch-command.js');
  const { BATCH_COMMANDS } = await import('./commands/batch/commands.js');
  return runBatchCommand(BATCH_COMMANDS[name], args, environment);
}

main().catch((error: unknown) => {
  if (!(error instanceof ConfigError)) throw error;
  for (const line of error.lines) failWith(line, EXIT_USAGE);
});
