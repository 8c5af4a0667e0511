/** Bytes that are made only when somebody takes them: who does not read costs one piece and no more (OP7a). */
export interface ByteStream {
  /** The next piece; null at the end. To ask says that the piece before has been taken. Rejects if it broke. */
  next(): Promise<Uint8Array | null>
  /** Nobody reads it any more. */
  cancel(): void
}

/** Each piece is one or more whole events; the signal tells that nobody reads any more. */
export type StreamSource = (signal: AbortSignal) => AsyncIterator<string | Uint8Array, void>

/** Told of each piece that was made: until it is released it has not been taken. */
export interface ByteMeter {
  hold(piece: Uint8Array): void
  release(piece: Uint8Array): void
}

export interface ByteStreamOptions {
  /** Said first, before the source is asked. */
  readonly opening?: string
  /** Said while somebody waits and the source is silent. */
  readonly keepAlive?: { readonly text: string; readonly everyMs: number }
  /** Says something between the pieces of the source; each is whole. What it returns ends that. */
  readonly aside?: (send: (text: string) => void) => () => void
  readonly meter?: ByteMeter
  /** Called once, however the stream ends, and also if nobody ever read it. */
  readonly onClose: () => void
}

const encoder = new TextEncoder()
const toBytes = (piece: string | Uint8Array): Uint8Array =>
  typeof piece === 'string' ? encoder.encode(piece) : piece

export function createByteStream(open: StreamSource, options: ByteStreamOptions): ByteStream {
  const { keepAlive, meter } = options
  // A source that waits for the next commit is woken by this, not by being closed.
  const reader = new AbortController()
  const source = open(reader.signal)
  let waiter: PromiseWithResolvers<Uint8Array | null> | null = null
  /** The source has been asked, and what it says next is still to be delivered. */
  let isAsked = false
  let arrived: (() => void) | null = null
  let held: Uint8Array | null = null
  let said: string | null = null
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
  /** Now, if somebody waits; else when somebody does. */
  const arrive = (act: () => void) => {
    if (waiter === null) arrived = act
    else act()
  }
  const onPiece = (result: IteratorResult<string | Uint8Array, void>) => {
    isAsked = false
    if (isClosed) return
    arrive(() => {
      if (result.done !== true) return deliver(toBytes(result.value))
      close()
      deliver(null)
    })
  }
  const onFault = (error: unknown) => {
    isAsked = false
    if (isClosed) return
    arrive(() => {
      close()
      waiter?.reject(error)
      waiter = null
    })
  }
  // Of several that nobody waited for the last is true: they tell a state, not what happened.
  const send = (text: string) => {
    if (waiter === null) said = text
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
      const now = opening ?? said
      if (now !== null) {
        if (opening === null) said = null
        opening = null
        deliver(encoder.encode(now))
      } else if (arrived !== null) {
        const act = arrived
        arrived = null
        act()
      } else if (!isAsked) {
        isAsked = true
        source.next().then(onPiece, onFault)
      }
      return promise
    },
    cancel() {
      if (isClosed) return
      close()
      reader.abort()
      // Whatever it still has to say, or fails with, is for nobody.
      source.return?.()?.then(undefined, () => undefined)
      waiter?.resolve(null)
      waiter = null
    },
  }
}

const streams = new WeakMap<ReadableStream, ByteStream>()

/** As a web stream, which makes nothing ahead: a piece is made when it is asked for. */
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

/** What a body is made of: the stream it was made from, or itself. Nobody else may read it then. */
export function byteStreamOf(body: ReadableStream<Uint8Array>): ByteStream {
  const own = body.locked ? undefined : streams.get(body)
  if (own !== undefined) return own
  const reader = body.getReader()
  return {
    next: async () => (await reader.read()).value ?? null,
    cancel: () => void reader.cancel().catch(() => undefined),
  }
}
