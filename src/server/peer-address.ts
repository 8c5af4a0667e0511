/**
 * Who is at the other end of the connection that a request came over. A web-standard request does not say
 * it, and headers that do can be sent by anyone; so only what holds the socket may write it here (HT4).
 */
const peers = new WeakMap<Request, string>()

export function rememberPeer(request: Request, address: string | undefined): void {
  if (address !== undefined) peers.set(request, address)
}

/** Undefined where the request did not come through our own listener: nobody knows, then. */
export const peerOf = (request: Request): string | undefined => peers.get(request)
