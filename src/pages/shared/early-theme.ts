// Loaded in the head, before anything is drawn: a page that was switched to dark never flashes
// light. The pages' own script takes over from it (theme.ts), so it is kept to a few bytes.
let chosen: string | null = null;
try {
  chosen = localStorage.getItem('libtorch-serve.theme');
} catch {
  // storage can be forbidden
}
if (chosen !== 'light' && chosen !== 'dark') {
  chosen = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
document.documentElement.dataset.theme = chosen;
