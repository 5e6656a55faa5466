// Sets the theme before the first paint, so that a dark page does not flash. Loaded in the head, therefore kept
// small; theme.ts takes over afterwards.
let chosen: string | null = null;
try {
  chosen = localStorage.getItem('libtorch-serve.theme');
} catch {
  // The browser forbids storage.
}
if (chosen !== 'light' && chosen !== 'dark') {
  chosen = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
document.documentElement.dataset.theme = chosen;
