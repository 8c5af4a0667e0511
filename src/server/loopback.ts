/**
 * A name that only ever means the machine it is used on. `hostname` is as in a `URL`, which has brought
 * every spelling of an address (`127.1`, `[0:0:0:0:0:0:0:1]`, upper case) to one.
 */
export const isLoopbackName = (hostname: string): boolean =>
  /^(?:(?:[a-z0-9_-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)

/** An address of a socket, or of a header that names one: with or without a port, brackets and quotes. */
export const isLoopbackAddress = (address: string): boolean =>
  /^(?:127(?:\.\d{1,3}){3}(?::\d+)?|::1|::ffff:127(?:\.\d{1,3}){3}|\[(?:::1|::ffff:127(?:\.\d{1,3}){3})\](?::\d+)?)$/i.test(
    address,
  )
