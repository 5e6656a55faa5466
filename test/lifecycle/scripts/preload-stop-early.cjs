// Loaded with --require into a service: SIGTERM comes as soon as it can be handled, which is
// before the model is loaded.
process.on('newListener', (event) => {
  if (event === 'SIGTERM') process.kill(process.pid, 'SIGTERM');
});
