/** The options of `createHandler`. All are optional; an unknown name, or a value out of range, is an error. */
export interface HandlerOptions {
  /**
   * Identifies the caller: an id of 1 to 200 characters, or null for an unknown one (401). An error that it throws is
   * logged, and the response is 500.
   *
   * Without it everybody is the one owner `local`, so the handler accepts only requests that are known to come from
   * this machine: through `listen` or `toNodeListener`, which see the socket, or with `localOnly`. Any other request
   * gets 403 `no-authentication`. For a chat that is open to everybody: `() => ({ id: 'everybody' })`.
   * @default everyone is `local`, and only this machine is served
   */
  readonly authenticate?: (
    request: Request,
  ) => { readonly id: string } | null | Promise<{ readonly id: string } | null>
  /**
   * States that only this machine can reach the server, because it listens on a loopback address alone. For frameworks
   * that hide the socket; has no effect beside `authenticate`. Host names that are not loopback, and requests that a
   * proxy reports as coming from elsewhere, are refused all the same.
   * @default false
   */
  readonly localOnly?: boolean
  /**
   * Origins of pages that may call this server, beside its own: `https://app.example`.
   * @default []
   */
  readonly allowedOrigins?: readonly string[]
  /**
   * The server is behind a proxy of your own, which sets `X-Forwarded-Host` and `X-Forwarded-Proto` (or `Forwarded`).
   * Anyone can send these headers, so they are trusted only with this option.
   * @default false
   */
  readonly trustProxy?: boolean
  /**
   * Keeps the process alive for a promise, where the platform ends or freezes it after a response (OP4): called after
   * every request while a run is live. For example `waitUntil` of `@vercel/functions`.
   * @default none: a run lives as long as the process does
   */
  readonly waitUntil?: (work: Promise<unknown>) => void
  /**
   * Enables `POST /api/recover`, which continues runs that other processes handed over or left behind, and is called
   * with `Authorization: Bearer <secret>`: at least 16 characters. The route does not call `authenticate`.
   * @default none: the route is 404
   */
  readonly recoverSecret?: string
  /**
   * The path prefix of all routes, as clients see it: with `/chat/v1` the list of threads is at `/chat/v1/api/threads`,
   * and every returned address begins with it. `''` and `'/'` are none. Any other path is 404. Clients need the same
   * option.
   * @default none; behind `toNodeHandler` in Express, the path that it is mounted at
   */
  readonly basePath?: string
  /**
   * Whether clients see the metadata of their threads: not at all, as `metadata` in each thread (`read`), or with the
   * right to set it when they create or change a thread (`write`). Setting it without that right is 403, and nothing is
   * changed.
   * @default 'hidden'
   */
  readonly threadMetadata?: 'hidden' | 'read' | 'write'
  /**
   * Whether owners may create links by which anybody reads a thread of theirs as it was, without signing in (FK5). If
   * false, no link can be created, and existing ones show nothing.
   * @default false beside `authenticate`; true without it, where only this machine is served anyway
   */
  readonly sharing?: boolean
  /** What one request or one owner may use; unnamed limits keep their default. @default those of `Limits` */
  readonly limits?: Partial<Limits>
  /**
   * The interval of keep-alive comments on an idle stream.
   * @default 15_000
   */
  readonly keepAliveMs?: number
  /**
   * Receives one record per request, without content.
   * @default the error of a 5xx is written to the standard error, and nothing else
   */
  readonly log?: (record: RequestRecord) => void
}

/** The limits of a handler, each with its default. */
export interface Limits {
  /**
   * The most bytes of a JSON body; more is 413.
   * @default 1_048_576
   */
  readonly bodyBytes: number
  /**
   * The most bytes of the body of an import.
   * @default 67_108_864
   */
  readonly importBytes: number
  /**
   * The most characters of one message of an import, or one line of JSONL, as JSON. A longer one is reported as failed;
   * the rest is imported.
   * @default 8_388_608
   */
  readonly importMessageChars: number
  /**
   * The most characters of a user message.
   * @default 200_000
   */
  readonly textChars: number
  /**
   * Live runs of one owner at once, in this process; more is 429. Generous, because without authentication one owner is
   * everybody.
   * @default 1_000
   */
  readonly runsPerOwner: number
  /**
   * Open event streams of one owner at once, in this process.
   * @default 5_000
   */
  readonly followersPerOwner: number
  /**
   * Open event streams of all owners together; more is 429.
   * @default 20_000
   */
  readonly followers: number
  /**
   * Imports and forks of one owner at once, in this process: each may hold all of a long thread, some 150 MB. More is 429.
   * An import counts while its body arrives, which may take minutes: at most half of `jobs` leaves room for others.
   * @default 4
   */
  readonly jobsPerOwner: number
  /**
   * Imports and forks of all owners together.
   * @default 8
   */
  readonly jobs: number
  /**
   * Uploads and downloads of one owner at once, in this process: each keeps a file open and a chunk of it in memory.
   * More is 429.
   * @default 100
   */
  readonly transfersPerOwner: number
  /**
   * Uploads and downloads of all owners together.
   * @default 2_000
   */
  readonly transfers: number
  /**
   * The most bytes that were produced for one owner and not yet consumed by their connections. Over it their streams
   * pause before the next read, and another page or stream is 429 with `Retry-After`. The same number, counted by itself,
   * is the most bytes of the owner's JSON bodies that have arrived and are not answered yet; over it a body is 429, unless
   * the owner's bodies have `bodyBytes` or less.
   * @default 33_554_432
   */
  readonly unreadBytesPerOwner: number
  /**
   * The same of all owners together. Over it, owners that have consumed everything still get one read at a time, and
   * owners whose bodies have `bodyBytes` or less are not refused.
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
  jobsPerOwner: 4,
  jobs: 8,
  transfersPerOwner: 100,
  transfers: 2_000,
  unreadBytesPerOwner: 33_554_432,
  unreadBytes: 268_435_456,
}

/** What `log` gets for one request. */
export interface RequestRecord {
  readonly method: string
  /** The route, not the address: ids are not logged. */
  readonly route: string
  readonly status: number
  readonly ms: number
  /** Set for a 5xx, and for a request that was refused because a function of the host application threw. */
  readonly error?: unknown
}
