// Loads each of the EEG models named, in this process, and says in a line of JSON what came of it.
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { EegEngine } = require(path.join(ROOT, 'dist', 'index.js'));

async function load(modelPath, options) {
  const before = process.memoryUsage.rss();
  try {
    const engine = await EegEngine.load({ modelPath, workers: 1, ...options });
    const { diagnosis, confidence } = await engine.classify(
      Array.from({ length: 256 }, (_, i) => i % 7),
    );
    await engine.close();
    return { diagnosis, confidence };
  } catch (error) {
    return { error: error.message, grownBytes: process.memoryUsage.rss() - before };
  }
}

async function main() {
  const [options, ...files] = process.argv.slice(2);
  for (const file of files) {
    const name = path.basename(file, '.pt');
    console.log(JSON.stringify({ name, ...(await load(file, JSON.parse(options))) }));
  }
}

main();
