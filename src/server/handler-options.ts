import type { LifecycleEvent } from '../engine/hooks.ts'

export interface HandlerOptions {
  /**
   * Who is asking: an id, or null for nobody (401). Without it everyone is `local`, and the handler
   * answers only on a loopback address.
   */
  readonly authenticate?: (
    request: Request,
  ) => { readonly id: string } | null | Promise<{ readonly id: string } | null>
  /** Origins of pages that may call this server, beside its own. */
  readonly allowedOrigins?: readonly string[]
  /**
   * A proxy of one's own stands before this, and says in `X-Forwarded-Proto` how it was asked. Anyone
   * can send that header, so it is believed only if this says so.
   */
  readonly trustProxy?: boolean
  readonly limits?: Partial<Limits>
  readonly keepAliveMs?: number
  readonly version?: string
  /** One record per request, without content. */
  readonly log?: (record: RequestRecord) => void
}

export interface Limits {
  /** Of a JSON body. */
  readonly bodyBytes: number
  readonly importBytes: number
  /** Of a user message. */
  readonly textChars: number
  /** At once, in this process. Generous: where nobody is told apart, one owner is everybody. */
  readonly runsPerOwner: number
  readonly followersPerOwner: number
}

export const defaultLimits: Limits = {
  bodyBytes: 1_048_576,
  importBytes: 67_108_864,
  textChars: 200_000,
  runsPerOwner: 1_000,
  followersPerOwner: 5_000,
}

export interface RequestRecord {
  readonly method: string
  /** The route, not the address: ids are not logged. */
  readonly route: string
  readonly status: number
  readonly ms: number
  /** Only for a 5xx. */
  readonly error?: unknown
}

export type ServerEvent = RequestRecord | LifecycleEvent
