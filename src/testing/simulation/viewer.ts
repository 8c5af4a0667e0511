import type { foldThread, ThreadView } from '../../core/fold-thread.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import type { Frame } from '../../engine/follow/live-window.ts'
import { findDifference } from './check-views.ts'
import type { Report, Oracle } from './oracle.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** A client that follows a thread through some process and folds the frames it receives. */
export interface Viewer {
  readonly name: string
  readonly threadId: ThreadId
  readonly view: ThreadView
  /** The process it is connected to. */
  readonly through: string | null
  connect(process: SimulatedProcess): void
  drop(): void
  /** Drops its state, reads a page of this size and follows from the seq of that page. */
  reload(process: SimulatedProcess, limit: number): Promise<void>
}

export interface ViewerParts {
  readonly name: string
  readonly threadId: ThreadId
  readonly oracle: Oracle
  readonly fold: typeof foldThread
  readonly report: Report
  /** Delays the next frame, as a slow client does. */
  readonly pause: () => Promise<void> | undefined
}

export function createViewer(parts: ViewerParts): Viewer {
  const { name, threadId, oracle, report } = parts
  let view: ThreadView = { seq: 0, messages: [] }
  /** The seq of the oldest message that it has loaded; older ones are not compared. */
  let from: Seq = 0
  let pageSize = 5
  let connection: { readonly through: string; readonly controller: AbortController } | null = null

  const receive = (frame: Frame) => {
    if (frame.after !== view.seq || frame.seq <= frame.after) {
      report('RS2', `${name} at ${view.seq} was sent ${frame.after} to ${frame.seq}`)
    }
    view = parts.fold(view, frame.changes)
    if (view.seq !== frame.seq) view = { ...view, seq: frame.seq }
    // Messages that were shown again are not loaded yet: they are read before anything is compared (VR2).
    if (view.outdatedAt !== undefined) return
    const expected = oracle.viewAt(frame.seq)
    if (expected === undefined) {
      report('LG2', `${name} was shown ${frame.seq}, which was not stored`)
      return
    }
    const window = expected.messages.filter(({ seq }) => seq >= from)
    const difference = findDifference(view.messages, window)
    if (difference !== undefined) report('LG4', `${name} at ${frame.seq} ${difference}`)
  }

  const follow = async (process: SimulatedProcess, controller: AbortController) => {
    const { signal } = controller
    try {
      for await (const frame of process.holdfast.subscribe(threadId, view.seq, signal)) {
        if (signal.aborted) return
        receive(frame)
        if (view.outdatedAt !== undefined) return void viewer.reload(process, pageSize)
        await parts.pause()
        if (signal.aborted) return
      }
    } catch {
      // The process lost its database; `quiesce` connects the viewer again.
    }
    if (connection?.controller === controller) connection = null
  }

  const viewer: Viewer = {
    name,
    threadId,
    get view() {
      return view
    },
    get through() {
      return connection?.through ?? null
    },
    connect(process) {
      viewer.drop()
      if (view.outdatedAt !== undefined) return void viewer.reload(process, pageSize)
      const controller = new AbortController()
      connection = { through: process.name, controller }
      void follow(process, controller)
    },
    drop() {
      connection?.controller.abort()
      connection = null
    },
    async reload(process, limit) {
      viewer.drop()
      pageSize = limit
      const query = { threadId, limit, before: null, live: 'include', results: 'full' } as const
      const page = await process.store.readPage(query).catch(() => null)
      if (page === null) return
      from = page.hasMore ? (page.messages.at(-1)?.seq ?? 0) : 0
      view = { seq: page.seq, from, messages: page.messages.toReversed() }
      const expected = oracle.viewAt(page.seq)?.messages.filter(({ seq }) => seq >= from)
      const difference = findDifference(view.messages, expected ?? [])
      if (difference !== undefined) report('LG4', `${name}'s page at ${page.seq} ${difference}`)
      viewer.connect(process)
    },
  }
  return viewer
}
