/**
 * The address of the socket's peer. A web-standard request does not contain it, and headers that do can be sent by
 * anyone; so only code that holds the socket may set it here (HT4).
 */
const peers = new WeakMap<Request, string>()

export function rememberPeer(request: Request, address: string | undefined): void {
  if (address !== undefined) peers.set(request, address)
}

/** Undefined where the request did not come through our own listener: the peer is not known then. */
export const peerOf = (request: Request): string | undefined => peers.get(request)
