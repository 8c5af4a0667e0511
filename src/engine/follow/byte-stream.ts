/**
 * A stream of bytes that are produced on demand: a reader that stops reading costs one chunk of memory and no more
 * (OP7a).
 */
export interface ByteStream {
  /**
   * The next chunk; null at the end. Calling it again means that the chunk before has been consumed. Rejects if the
   * stream broke.
   */
  next(): Promise<Uint8Array | null>
  /** Nothing reads the stream any more. */
  cancel(): void
}

/** Each chunk is one or more whole events; the signal aborts when nothing reads the stream any more. */
export type StreamSource = (signal: AbortSignal) => AsyncIterator<string | Uint8Array, void>

/** Counts the chunks that were produced and not consumed yet. */
export interface ByteMeter {
  hold(piece: Uint8Array): void
  release(piece: Uint8Array): void
}

export interface ByteStreamOptions {
  /** Sent first, before the source is read. */
  readonly opening?: string
  /** Sent while a reader waits and the source is idle. */
  readonly keepAlive?: { readonly text: string; readonly everyMs: number }
  /** Sends texts between the chunks of the source; each is a whole event. The returned function ends it. */
  readonly aside?: (send: (text: string) => void) => () => void
  readonly meter?: ByteMeter
  /** Called once, however the stream ends, and also if it was never read. */
  readonly onClose: () => void
}

const encoder = new TextEncoder()
const toBytes = (piece: string | Uint8Array): Uint8Array =>
  typeof piece === 'string' ? encoder.encode(piece) : piece

export function createByteStream(open: StreamSource, options: ByteStreamOptions): ByteStream {
  const { keepAlive, meter } = options
  // A source that waits for the next commit is woken by this signal, not by being closed.
  const reader = new AbortController()
  const source = open(reader.signal)
  let waiter: PromiseWithResolvers<Uint8Array | null> | null = null
  /** The source was asked for a chunk that has not been delivered yet. */
  let isPulled = false
  let arrived: (() => void) | null = null
  let held: Uint8Array | null = null
  let pendingAside: string | null = null
  let opening = options.opening ?? null
  let isClosed = false

  const release = () => {
    if (held !== null) meter?.release(held)
    held = null
  }
  const close = () => {
    if (isClosed) return
    isClosed = true
    clearInterval(timer)
    endAside?.()
    release()
    options.onClose()
  }
  const deliver = (piece: Uint8Array | null) => {
    const { resolve } = waiter as PromiseWithResolvers<Uint8Array | null>
    waiter = null
    if (piece !== null) {
      meter?.hold(piece)
      held = piece
    }
    resolve(piece)
  }
  /** Acts now if a reader waits, else when the next one does. */
  const arrive = (act: () => void) => {
    if (waiter === null) arrived = act
    else act()
  }
  const onPiece = (result: IteratorResult<string | Uint8Array, void>) => {
    isPulled = false
    if (isClosed) return
    arrive(() => {
      if (result.done !== true) return deliver(toBytes(result.value))
      close()
      deliver(null)
    })
  }
  const onFault = (error: unknown) => {
    isPulled = false
    if (isClosed) return
    arrive(() => {
      close()
      waiter?.reject(error)
      waiter = null
    })
  }
  // Of several texts sent while no reader waits only the last is kept: each replaces the state that the one before
  // reported.
  const send = (text: string) => {
    if (waiter === null) pendingAside = text
    else deliver(encoder.encode(text))
  }
  const endAside = options.aside?.(send)
  const timer =
    keepAlive &&
    setInterval(() => {
      if (waiter !== null) deliver(encoder.encode(keepAlive.text))
    }, keepAlive.everyMs)

  return {
    next() {
      release()
      if (isClosed) return Promise.resolve(null)
      waiter = Promise.withResolvers()
      const { promise } = waiter
      const now = opening ?? pendingAside
      if (now !== null) {
        if (opening === null) pendingAside = null
        opening = null
        deliver(encoder.encode(now))
      } else if (arrived !== null) {
        const act = arrived
        arrived = null
        act()
      } else if (!isPulled) {
        isPulled = true
        source.next().then(onPiece, onFault)
      }
      return promise
    },
    cancel() {
      if (isClosed) return
      close()
      reader.abort()
      // Further output or errors of the source are ignored: nothing reads it any more.
      source.return?.()?.then(undefined, () => undefined)
      waiter?.resolve(null)
      waiter = null
    },
  }
}

const streams = new WeakMap<ReadableStream, ByteStream>()

/** As a web stream without read-ahead: a chunk is produced when it is pulled. */
export function toReadable(stream: ByteStream): ReadableStream<Uint8Array> {
  const readable = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await stream.next()
        if (piece === null) controller.close()
        else controller.enqueue(piece)
      },
      cancel: () => stream.cancel(),
    },
    { highWaterMark: 0 },
  )
  streams.set(readable, stream)
  return readable
}

/** The stream that a body was made from, or a reader of the body itself. The caller must be its only reader. */
export function byteStreamOf(body: ReadableStream<Uint8Array>): ByteStream {
  const own = body.locked ? undefined : streams.get(body)
  if (own !== undefined) return own
  const reader = body.getReader()
  return {
    next: async () => (await reader.read()).value ?? null,
    cancel: () => void reader.cancel().catch(() => undefined),
  }
}
