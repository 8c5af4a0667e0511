import { isDeepStrictEqual } from 'node:util'
import type { LanguageModel } from 'ai'
import { type Holdfast, parseThreadId } from 'holdfast'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSignal } from '../support/signal.ts'
import { startChatServer, type Script } from './chat-server.ts'
import { openTab, type Sdk, sdks, type Tab } from './chat-tab.ts'
import { readPage, reload } from './thread-page.ts'

const threadId = 'chat-1'
const id = parseThreadId(threadId)

/** Every kind of chunk: reasoning, text in pieces, streamed arguments, a failure, progress, two steps. */
const script: Script = (_, step) =>
  step === 0
    ? [
        { reasoning: 'Two lookups.' },
        { text: 'Checking both cities.', pieces: 4 },
        { call: 'weather', input: { city: 'Berlin' }, streamed: true },
        { call: 'weather', input: { city: 'Oslo' } },
        { call: 'boom', input: {} },
        { call: 'steps', input: {} },
        { call: 'nope', input: { a: 1 }, streamed: true },
      ]
    : [{ text: 'Berlin 20C, Oslo 12C.', pieces: 5 }]

/** What a model streams of which each part is stored as one event, and the types of these events. */
const isPiece = ({ type }: { readonly type: string }) =>
  /-delta$|^tool-input-start$|^tool-call$/.test(type)
const pieceEvents: ReadonlySet<string> = new Set([
  'text-appended',
  'call-announced',
  'call-input-appended',
  'call-recorded',
])

/** Makes a model stream its next part only when the previous one is committed and the test has compared the tabs. */
function createPace() {
  const happened = createSignal()
  const engine = Promise.withResolvers<Holdfast>()
  const pieces = { streamed: 0, committed: 0, compared: 0 }
  let isComparing = false
  const following = new AbortController()
  onTestFinished(() => following.abort())
  let followed: Promise<void> | undefined
  const follow = async () => {
    const holdfast = await engine.promise
    for await (const { changes } of holdfast.subscribe(id, 0, following.signal)) {
      const events = changes.flatMap((change) => (change.kind === 'event' ? [change.event] : []))
      pieces.committed += events.filter(({ type }) => pieceEvents.has(type)).length
      happened.notify()
    }
  }
  const wrapModel = (model: LanguageModel): LanguageModel => {
    const inner = model as Exclude<LanguageModel, string>
    const paced = {
      ...inner,
      async doStream(options: { readonly abortSignal?: AbortSignal }) {
        // Not before: now the thread is there.
        followed ??= follow()
        const { stream, ...rest } = await inner.doStream(options as never)
        const aborted = new Promise<void>((resolve) => {
          options.abortSignal?.addEventListener('abort', () => resolve())
        })
        const slow = new TransformStream<{ readonly type: string }>({
          async transform(part, controller) {
            const goOn = happened.until(() => !isComparing && pieces.compared === pieces.streamed)
            await Promise.race([goOn, aborted])
            if (isPiece(part)) pieces.streamed++
            controller.enqueue(part)
          },
        })
        return { stream: (stream as ReadableStream).pipeThrough(slow), ...rest }
      },
    }
    return paced
  }
  return {
    wrapModel,
    engine: engine.resolve,
    pieces: (): Readonly<typeof pieces> => pieces,
    /** Resolves when something is committed that has not been compared. */
    committed: () => happened.until(() => pieces.committed > pieces.compared),
    /** The model waits until it is over. */
    async compare(run: () => Promise<void>) {
      const { committed } = pieces
      isComparing = true
      await run()
      isComparing = false
      pieces.compared = committed
      happened.notify()
    },
  }
}

async function untilEqual(one: Tab, other: Tab): Promise<void> {
  while (!isDeepStrictEqual(one.messages(), other.messages())) {
    if (other.chat.error !== undefined) throw other.chat.error
    await Promise.race([one.changed(), other.changed()])
  }
}

describe.each(sdks)('AI SDK %i', (client) => {
  it.each([client, null] as (Sdk | null)[])(
    '[RS3 FD1 LG4] shows after a reload at every chunk what it showed before (declared: %s)',
    async (declared) => {
      const pace = createPace()
      const { url, holdfast } = await startChatServer(script, { wrapModel: pace.wrapModel })
      pace.engine(holdfast)
      const place = { url, threadId, client, declared }
      const tab = openTab(place)
      const sent = tab.chat.sendMessage({ text: 'Berlin and Oslo?' })
      const reloaded: { readonly tab: Tab; readonly resumed: Promise<void> }[] = []
      let seen = ''
      const over = sent.then(() => 'over' as const)
      while (true) {
        const committed = pace.committed().then(() => 'committed' as const)
        const next = await Promise.race([over, committed, tab.changed()])
        if (next === 'over') break
        const shown = JSON.stringify(tab.messages())
        // Also what no part of the model changes, such as the results of tools.
        if (next !== 'committed' && (tab.chat.status !== 'streaming' || shown === seen)) continue
        await pace.compare(async () => {
          const again = await reload(place)
          await untilEqual(tab, again.tab)
          reloaded.push(again)
        })
        seen = JSON.stringify(tab.messages())
      }
      await sent
      expect(tab.chat.error).toBeUndefined()
      const page = await readPage({ url, threadId, sdk: declared })
      expect(tab.messages()).toEqual(page)
      for (const again of reloaded) {
        await again.resumed
        expect(again.tab.chat.error).toBeUndefined()
        expect(again.tab.messages()).toEqual(page)
      }
      // Each of them was compared before the next one came.
      expect(pace.pieces()).toEqual({ streamed: 21, committed: 21, compared: 21 })
      expect(reloaded.length).toBeGreaterThanOrEqual(21)
    },
  )
})
