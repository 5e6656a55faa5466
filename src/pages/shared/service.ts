/** The relative address of something of the service: a page may be below another one. */
export function atService(path: string): string {
  return document.documentElement.dataset.service + path;
}
