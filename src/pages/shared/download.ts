/** Offers a file that was made on this page. */
export function download(name: string, text: string): void {
  // With a byte order mark, without which Excel takes UTF-8 for something else.
  const url = URL.createObjectURL(new Blob(['\ufeff', text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
