import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { LanguageModel } from 'ai'
import { describe, expect, it } from 'vitest'
import { startChatServer, type Script } from './chat-server.ts'
import { openTab, type Sdk, sdks, type Tab } from './chat-tab.ts'
import { readPage, reload } from './thread-page.ts'

const threadId = 'chat-1'

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

/** Lets the model say its next part only when the test is not looking. */
function createPause() {
  let paused: Promise<void> = Promise.resolve()
  const wrapModel = (model: LanguageModel): LanguageModel => {
    const inner = model as Exclude<LanguageModel, string>
    const paced = {
      ...inner,
      async doStream(options: { readonly abortSignal?: AbortSignal }) {
        const { stream, ...rest } = await inner.doStream(options as never)
        const aborted = new Promise<void>((resolve) => {
          options.abortSignal?.addEventListener('abort', () => resolve())
        })
        const slow = new TransformStream({
          async transform(part, controller) {
            // A timer, so that what was said before has been committed and read.
            await setTimeout(4)
            await Promise.race([paused, aborted])
            controller.enqueue(part)
          },
        })
        return { stream: (stream as ReadableStream).pipeThrough(slow), ...rest }
      },
    }
    return paced
  }
  const pause = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    paused = promise
    return resolve
  }
  return { wrapModel, pause }
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
      const { wrapModel, pause } = createPause()
      const { url } = await startChatServer(script, { wrapModel })
      const place = { url, threadId, client, declared }
      const tab = openTab(place)
      const sent = tab.chat.sendMessage({ text: 'Berlin and Oslo?' })
      const reloaded: { readonly tab: Tab; readonly resumed: Promise<void> }[] = []
      let seen = ''
      const over = sent.then(() => 'over' as const)
      while ((await Promise.race([tab.changed(), over])) !== 'over') {
        const shown = JSON.stringify(tab.messages())
        if (tab.chat.status !== 'streaming' || shown === seen) continue
        seen = shown
        const goOn = pause()
        const again = await reload(place)
        await untilEqual(tab, again.tab)
        reloaded.push(again)
        goOn()
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
      expect(reloaded.length).toBeGreaterThan(8)
    },
  )
})
