/**
 * A host name that only ever means the machine it is used on. `hostname` is as in a `URL`, which has normalized every
 * spelling of an address (`127.1`, `[0:0:0:0:0:0:0:1]`, upper case).
 */
export const isLoopbackName = (hostname: string): boolean =>
  /^(?:(?:[a-z0-9_-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)

/** The address of a socket, or in a header that names one: with or without a port, brackets and quotes. */
export const isLoopbackAddress = (address: string): boolean =>
  /^(?:127(?:\.\d{1,3}){3}(?::\d+)?|::1|::ffff:127(?:\.\d{1,3}){3}|\[(?:::1|::ffff:127(?:\.\d{1,3}){3})\](?::\d+)?)$/i.test(
    address,
  )
