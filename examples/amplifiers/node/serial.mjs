// A serial port to libtorch-serve: lines of text, of which a column is a sample, to answers as lines of JSON.
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

/** Null: a line has none, for it was cut off, or says something else. */
function sampleIn(line) {
  const cell = line.trim().split(/[\s,;]+/)[Number(values.column) - 1] ?? '';
  return cell === '' || !Number.isFinite(Number(cell)) ? null : Number(cell);
}

/** Until the port is gone. */
async function* samplesOf(tty) {
  let rest = '';
  try {
    for await (const chunk of tty) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) yield lines.map(sampleIn);
    }
  } catch (error) {
    if (!['EIO', 'ENXIO', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code)) throw error;
  }
}

// As the device sends it: no echo, and nothing in it is a signal. The port is opened without waiting for a carrier.
execFileSync('stty', ['-F', port, values.baud, 'raw', '-echo', 'clocal']);
const { O_RDONLY, O_NOCTTY, O_NONBLOCK } = constants;
const tty = new ReadStream(openSync(port, O_RDONLY | O_NOCTTY | O_NONBLOCK));
process.once('SIGINT', () => tty.destroy());
console.error(`${port}: column ${values.column} at ${values.rate} Hz`);

// Node.js from 22 on has a WebSocket of its own.
const eeg = new EegClient(url, { WebSocket, apiKey: process.env.API_KEY });
const options = { samplingRateHz: Number(values.rate), step: Number(values.step) };
for await (const answer of eeg.stream(samplesOf(tty.setEncoding('utf8')), options)) {
  console.log(JSON.stringify(answer));
}
