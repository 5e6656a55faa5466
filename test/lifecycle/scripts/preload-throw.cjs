// Loaded with --require into a service: makes it fail as a bug would, when told to.
process.on('SIGUSR2', () => {
  throw new Error('thrown by the test');
});
process.on('SIGHUP', () => {
  Promise.reject(new Error('rejected by the test'));
});
