/**
 * The anchor of a heading, as GitHub makes it: a link to it then works there, in an editor and on the site.
 * @param {string} heading
 */
export const toAnchor = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
