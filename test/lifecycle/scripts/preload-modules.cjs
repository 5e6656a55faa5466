// When the process gets SIGUSR2, says which files of OpenTelemetry have been loaded.
process.on('SIGUSR2', () => {
  const modules = Object.keys(require.cache).filter((file) => file.includes('@opentelemetry'));
  process.stdout.write(`${JSON.stringify({ msg: 'modules', modules })}\n`);
});
