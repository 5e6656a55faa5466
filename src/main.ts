#!/usr/bin/env node
// First: it works beside the imports that follow.
import './native/preload-addon';

import path from 'node:path';
import { EXIT_USAGE, failWith } from './commands/exit-codes';
import { installLibtorchIfMissing, runScript } from './commands/scripts';
import { serve } from './commands/serve/serve';
import { packageVersion } from './lib/package-version';
import { type Command, ConfigError, helpText, readCommand } from './settings/config';
import { type Environment, readEnvironment } from './settings/environment';

const PACKAGE_ROOT = path.resolve(__dirname, '..');

async function main(): Promise<void> {
  const environment = readEnvironment(PACKAGE_ROOT);
  const command = readCommand(process.argv.slice(2), environment);
  if (command.type === 'help') process.stdout.write(helpText());
  else if (command.type === 'version') process.stdout.write(`${packageVersion(PACKAGE_ROOT)}\n`);
  else if (command.type === 'build' || command.type === 'install') {
    process.exitCode = await runScript(command.type);
  } else if (command.type === 'import-torchserve') {
    type Import = typeof import('./commands/import-torchserve/import-torchserve-command');
    const { runImportTorchserve } =
      require('./commands/import-torchserve/import-torchserve-command') as Import;
    process.exitCode = runImportTorchserve(command.args, environment);
  } else {
    const exitCode = await installLibtorchIfMissing();
    if (exitCode !== 0) process.exitCode = exitCode;
    else if (command.type === 'serve') await serve(command.config, packageVersion(PACKAGE_ROOT));
    else if (command.type === 'inspect') {
      type Inspect = typeof import('./commands/inspect/inspect-command');
      const { runInspect } = require('./commands/inspect/inspect-command') as Inspect;
      process.exitCode = await runInspect(command.args, environment);
    } else process.exitCode = await runOverFiles(command, environment);
  }
}

/** Loaded only here: services need nothing of it. */
function runOverFiles(
  { name, args }: Extract<Command, { type: 'files' }>,
  environment: Environment,
): Promise<number> {
  if (name === 'classify' && args.includes('--follow') && !asksForHelp(args)) {
    type Following = typeof import('./commands/classify/follow/follow-command');
    const { runFollow } = require('./commands/classify/follow/follow-command') as Following;
    return runFollow(args, environment);
  }
  type Running = typeof import('./commands/batch/batch-command');
  type Registry = typeof import('./commands/batch/commands');
  const { runBatchCommand } = require('./commands/batch/batch-command') as Running;
  const { BATCH_COMMANDS } = require('./commands/batch/commands') as Registry;
  return runBatchCommand(BATCH_COMMANDS[name], args, environment);
}

const asksForHelp = (args: readonly string[]) => args.includes('--help') || args.includes('-h');

main().catch((error: unknown) => {
  if (!(error instanceof ConfigError)) throw error;
  for (const line of error.lines) failWith(line, EXIT_USAGE);
});
