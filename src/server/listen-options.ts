/** The options of `toNodeListener`. */
export interface NodeListenerOptions {
  /**
   * A client that does not consume 64 kB in this time is disconnected.
   * @default 30_000
   */
  readonly stallMs?: number
  /**
   * Receives errors that the handler throws, and errors while a response is being sent. The client gets a 500 without
   * details or, if the response had begun, a broken connection.
   * @default writes it to the standard error
   */
  readonly onError?: (error: unknown) => void
}

/** The options of `listen`. */
export interface ListenOptions extends NodeListenerOptions {
  /** 0 selects a free port; `url` contains it. */
  readonly port: number
  /** `127.0.0.1` and `::1` are this machine alone; `0.0.0.0` and `::` are all its networks. */
  readonly host: string
}
