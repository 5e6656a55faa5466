// Streams samples from a serial port to libtorch-serve and prints results as JSON lines. Each line of text from the
// port contains one sample in a column.
//   node serial.mjs http://localhost:8001 /dev/ttyUSB0 --rate 256 --baud 115200 --column 1 --step 64
import { execFileSync } from 'node:child_process';
import { constants, openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { parseArgs } from 'node:util';
import { EegClient } from 'libtorch-serve/client';
import { WebSocket } from 'ws';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rate: { type: 'string', default: '256' },
    baud: { type: 'string', default: '115200' },
    column: { type: 'string', default: '1' },
    step: { type: 'string', default: '64' },
  },
});
const [url = 'http://localhost:8001', port = '/dev/ttyUSB0'] = positionals;

/** Parses the sample in a line; null for an incomplete or invalid line. */
function parseSample(line) {
  const cell = line.trim().split(/[\s,;]+/)[Number(values.column) - 1] ?? '';
  return cell === '' || !Number.isFinite(Number(cell)) ? null : Number(cell);
}

/** Reads samples until the port is closed. */
async function* samplesOf(tty) {
  let rest = '';
  try {
    for await (const chunk of tty) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) yield lines.map(parseSample);
    }
  } catch (error) {
    if (!['EIO', 'ENXIO', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code)) throw error;
  }
}

// Raw mode: no echo, no control characters. `clocal` opens the port without waiting for a carrier.
execFileSync('stty', ['-F', port, values.baud, 'raw', '-echo', 'clocal']);
const { O_RDONLY, O_NOCTTY, O_NONBLOCK } = constants;
const tty = new ReadStream(openSync(port, O_RDONLY | O_NOCTTY | O_NONBLOCK));
process.once('SIGINT', () => tty.destroy());
console.error(`${port}: column ${values.column} at ${values.rate} Hz`);

// Node.js 22 and later have a global WebSocket.
const eeg = new EegClient(url, { WebSocket, apiKey: process.env.API_KEY });
const options = { samplingRateHz: Number(values.rate), step: Number(values.step) };
for await (const answer of eeg.stream(samplesOf(tty.setEncoding('utf8')), options)) {
  console.log(JSON.stringify(answer));
}
