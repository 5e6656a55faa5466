// Blocks the event loop for 300 ms when the process gets SIGUSR2, and says so.
process.on('SIGUSR2', () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  process.stdout.write('{"msg":"blocked"}\n');
});
