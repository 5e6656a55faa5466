/** Downloads a CSV file. Excel recognizes UTF-8 only with a byte order mark. */
export function downloadCsv(name: string, text: string): void {
  download(name, new Blob(['\ufeff', text], { type: 'text/csv;charset=utf-8' }));
}

export function downloadJson(name: string, text: string): void {
  download(name, new Blob([text], { type: 'application/json' }));
}

function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
