export const EXAMPLES: readonly string[] = [
  'A warm, funny film that never outstays its welcome.',
  "It isn't bad at all, which is more than I expected.",
  'Two hours of my life that I will never get back.',
  'The cast is wonderful. The script, sadly, is not.',
];

export const EXAMPLE_LINES = [
  ...EXAMPLES,
  'Beautifully shot, and completely hollow.',
  'I laughed, I cried, I bought the soundtrack.',
  'Not for everyone, but it was for me.',
  'The trailer was better.',
].join('\n');
