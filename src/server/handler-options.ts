/** What `createHandler` takes. Everything is optional; a name that is not here, or a value out of range, is an error. */
export interface HandlerOptions {
  /**
   * Who is asking: an id of 1 to 200 characters, or null for nobody (401). What it throws is logged, and is a 500.
   *
   * Without it everyone is the one owner `local`, so the handler answers only requests that are known to
   * come from this machine: through `listen` or `toNodeListener`, which see the socket, or with `localOnly`.
   * Anything else is 403 `no-authentication`. For a chat that is open to everybody, say so: `() => ({ id: 'everybody' })`.
   * @default everyone is `local`, and only this machine is served
   */
  readonly authenticate?: (
    request: Request,
  ) => { readonly id: string } | null | Promise<{ readonly id: string } | null>
  /**
   * You vouch that nobody but this machine can reach the server, as it listens on a loopback address alone. For
   * frameworks that hide the socket; has no meaning beside `authenticate`. Names that are not loopback ones, and
   * requests of which a proxy says that they come from elsewhere, are refused all the same.
   * @default false
   */
  readonly localOnly?: boolean
  /**
   * Origins of pages that may call this server, beside its own: `https://app.example`.
   * @default []
   */
  readonly allowedOrigins?: readonly string[]
  /**
   * A proxy of one's own stands before this, and says in `X-Forwarded-Host` and `X-Forwarded-Proto` (or in
   * `Forwarded`) how it was asked. Anyone can send these headers, so they are believed only if this says so.
   * @default false
   */
  readonly trustProxy?: boolean
  /**
   * Keeps the process alive for a promise, where the platform ends or freezes it after an answer (OP4): it is called after
   * every request that left a run under way. Such as `waitUntil` of `@vercel/functions`.
   * @default none: a run lives as long as the process does
   */
  readonly waitUntil?: (work: Promise<unknown>) => void
  /**
   * Switches `POST /api/recover` on, which carries on what other processes handed over or left behind, and is called with
   * `Authorization: Bearer <secret>`: at least 16 characters. Nobody's sign-in is asked for there.
   * @default none: the route is 404
   */
  readonly recoverSecret?: string
  /**
   * The path that all routes stand under, as clients see it: with `/chat/v1` the list of threads is at
   * `/chat/v1/api/threads`, and every address that is given out begins so. `''` and `'/'` are none. What is not under it is
   * 404. Clients are given the same.
   * @default none; behind `toNodeHandler` in Express, the path that it is mounted at
   */
  readonly basePath?: string
  /**
   * What people see of the metadata that the host keeps with their threads: nothing, `metadata` in each thread (`read`),
   * or that and the right to set it when they make or change a thread (`write`). Whoever sets it without that right is
   * told 403, and nothing is changed.
   * @default 'hidden'
   */
  readonly threadMetadata?: 'hidden' | 'read' | 'write'
  /**
   * Whether people may make links by which anybody reads a thread of theirs as it was, without signing in (FK5). Off, no link can be
   * made, and those that were made show nothing.
   * @default false beside `authenticate`; true without it, where only this machine is served anyway
   */
  readonly sharing?: boolean
  /** What one request or one owner may take; those that are not named keep their default. @default those of `Limits` */
  readonly limits?: Partial<Limits>
  /**
   * How often an idle stream says that it is still there.
   * @default 15_000
   */
  readonly keepAliveMs?: number
  /**
   * One record per request, without content.
   * @default the error of a 5xx is written to the standard error, and nothing else
   */
  readonly log?: (record: RequestRecord) => void
}

export interface Limits {
  /**
   * Of a JSON body; more is 413.
   * @default 1_048_576
   */
  readonly bodyBytes: number
  /**
   * Of the body of an import.
   * @default 67_108_864
   */
  readonly importBytes: number
  /**
   * Of one message of an import, or one line of JSONL, as characters of JSON. What is longer is in the report as failed; the
   * rest is imported.
   * @default 8_388_608
   */
  readonly importMessageChars: number
  /**
   * Of a user message.
   * @default 200_000
   */
  readonly textChars: number
  /**
   * At once, in this process; more is 429. Generous: where nobody is told apart, one owner is everybody.
   * @default 1_000
   */
  readonly runsPerOwner: number
  /**
   * Open event streams at once, in this process.
   * @default 5_000
   */
  readonly followersPerOwner: number
  /**
   * The same of all owners together; more is 429.
   * @default 20_000
   */
  readonly followers: number
  /**
   * Imports and forks of one owner at once, in this process: each holds much in memory. More is 429.
   * @default 6
   */
  readonly jobsPerOwner: number
  /**
   * The same of all owners together.
   * @default 24
   */
  readonly jobs: number
  /**
   * Files of one owner that are sent or fetched at once, in this process: each holds an open file and a piece of it. More is
   * 429.
   * @default 100
   */
  readonly transfersPerOwner: number
  /**
   * The same of all owners together.
   * @default 2_000
   */
  readonly transfers: number
  /**
   * What was built for one owner and not yet taken by their connections, in bytes. Over it their streams wait
   * before they read on, and another page or stream is 429 with `Retry-After`.
   * @default 33_554_432
   */
  readonly unreadBytesPerOwner: number
  /**
   * The same of all owners together. Over it, whoever has read what they were sent still goes on.
   * @default 268_435_456
   */
  readonly unreadBytes: number
}

export const defaultLimits: Limits = {
  bodyBytes: 1_048_576,
  importBytes: 67_108_864,
  importMessageChars: 8_388_608,
  textChars: 200_000,
  runsPerOwner: 1_000,
  followersPerOwner: 5_000,
  followers: 20_000,
  jobsPerOwner: 6,
  jobs: 24,
  transfersPerOwner: 100,
  transfers: 2_000,
  unreadBytesPerOwner: 33_554_432,
  unreadBytes: 268_435_456,
}

export interface RequestRecord {
  readonly method: string
  /** The route, not the address: ids are not logged. */
  readonly route: string
  readonly status: number
  readonly ms: number
  /** Of a 5xx, and of a request that was refused because the host's own code threw. */
  readonly error?: unknown
}
