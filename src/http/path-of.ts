import type { Request } from 'express';

/** The path as the router reads it; of a target that is no URL, the target. */
export function pathOf(request: Request): string {
  const { url } = request;
  // A path, as nearly all targets are. Others: an absolute one, or one with a fragment.
  if (url.startsWith('/') && !url.includes('#')) {
    const query = url.indexOf('?');
    return query < 0 ? url : url.slice(0, query);
  }
  try {
    return request.path;
  } catch {
    return url;
  }
}
