// On SIGUSR2 it is a minute and a second later, so that no test has to wait for as long.
const now = performance.now.bind(performance);
process.on('SIGUSR2', () => {
  performance.now = () => now() + 61_000;
});
