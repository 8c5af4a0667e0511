/** What `toNodeListener` takes. */
export interface NodeListenerOptions {
  /**
   * A client that does not take 64 kB of what waits for it in this time is cut off: it is not kept for ever.
   * @default 30_000
   */
  readonly stallMs?: number
  /**
   * Told what the handler throws, and what breaks while an answer is being sent. The client gets a 500 that says
   * nothing of it or, if the answer had begun, sees the connection break.
   * @default writes it to the standard error
   */
  readonly onError?: (error: unknown) => void
}

/** What `listen` takes. */
export interface ListenOptions extends NodeListenerOptions {
  /** 0 takes any that is free; `url` says which. */
  readonly port: number
  /** `127.0.0.1` and `::1` are this machine alone; `0.0.0.0` and `::` are every network it is in. */
  readonly host: string
}
