import type pg from 'pg'
import type { ChangeNotification } from '../store.ts'
import { everything, parseNotifyPayload } from './notify-payload.ts'

export interface NotifyListener {
  start(): void
  /** Resolves when the connection, if there was one, is closed. */
  stop(): Promise<void>
}

export interface NotifyListenerOptions {
  /** Our own name: what we sent ourselves was told here directly. */
  readonly from: string
  readonly channel: string
  readonly createClient: () => pg.Client
  readonly post: (notifications: readonly ChangeNotification[]) => void
  readonly onError: (error: unknown) => void
}

const firstPauseMs = 50
const longestPauseMs = 5000

/** One connection that listens while somebody watches, and is made again whenever it breaks. */
export function createNotifyListener(options: NotifyListenerOptions): NotifyListener {
  const { from, channel, createClient, post, onError } = options
  let client: pg.Client | undefined
  let isListening = false
  let timer: NodeJS.Timeout | undefined
  let pauseMs = firstPauseMs

  const connect = async () => {
    timer = undefined
    const mine = createClient()
    client = mine
    const retry = () => {
      if (client !== mine) return
      client = undefined
      isListening = false
      timer = setTimeout(() => void connect(), pauseMs)
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
    mine.on('error', onError)
    mine.on('end', retry)
    mine.on('notification', ({ payload }) => {
      const sent = parseNotifyPayload(payload ?? '')
      if (client === mine && sent !== undefined && sent.from !== from) post(sent.notifications)
    })
    try {
      await mine.connect()
      await mine.query(`LISTEN "${channel}"`)
      if (client !== mine) return
      isListening = true
      pauseMs = firstPauseMs
      // What was missed while nobody listened.
      post([everything])
    } catch (error) {
      onError(error)
      retry()
      void end(mine)
    }
  }

  // It is of no more use in either case; that it was already broken is no news.
  const end = (ended: pg.Client): Promise<void> => ended.end().catch(() => {})

  return {
    start() {
      if (client === undefined && timer === undefined) void connect()
    },
    async stop() {
      clearTimeout(timer)
      timer = undefined
      const ended = client
      const wasListening = isListening
      client = undefined
      isListening = false
      if (ended === undefined) return
      const closed = end(ended)
      // One that is still being made may hang as long as the network likes.
      if (wasListening) await closed
    },
  }
}
