/** Where a link in a reply may lead. */

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/**
 * The address a link may open, in the form the browser would use; null when the text is to be shown without a link.
 *
 * Only absolute addresses of three schemes count: a relative one would be taken from this page's origin, and every
 * other scheme runs something.
 */
export function safeHref(href: string): string | null {
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return null;
  }
  if (!SCHEMES.has(url.protocol)) return null;
  // A user name before the host serves only to make another host look like the target.
  if (url.username !== "" || url.password !== "") return null;
  return url.href;
}
