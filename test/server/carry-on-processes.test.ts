import type { UIMessage } from 'ai'
import { expect, it, onTestFinished } from 'vitest'
import { longAnswer, talk } from '../../src/demo/demo-answers.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { startServerProcess } from '../support/server-process.ts'
import { openTab, sdks } from './chat-tab.ts'
import { readPage, reload } from './thread-page.ts'

const textsOf = (messages: readonly UIMessage[]): readonly string[] =>
  messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))

const get = async (url: string): Promise<unknown> => (await fetch(url)).json()

it('[AG8 CR5] a server that is killed in mid-answer is carried on by another, and no reader reads anything twice', async () => {
  const db = temporaryFile()
  // Slow enough that a test that stands still for some seconds still kills it in the middle.
  const env = { DELAY_MS: '400' }
  const first = await startServerProcess({ db, env })
  onTestFinished(() => void first.stop('SIGKILL'))
  // The demo model carries on with the one, and says the other anew from its beginning.
  const asked = { carried: 'write a long answer', repeated: 'hello there' }
  const answers = { carried: longAnswer(), repeated: talk(asked.repeated, 1) }
  const threads = (['carried', 'repeated'] as const).map((kind) => {
    const threadId = `thread-${kind}-${crypto.randomUUID()}`
    const tab = openTab({ url: first.url, threadId, client: 7 })
    const sent = tab.chat.sendMessage({ text: asked[kind] }).catch(() => undefined)
    return { kind, threadId, tab, sent }
  })
  await Promise.all(
    threads.map(({ tab }) => tab.until((messages) => textsOf(messages).join('').length > 8)),
  )
  await first.stop('SIGKILL')
  await Promise.all(threads.map(({ sent }) => sent))

  const second = await startServerProcess({ db, env: { DELAY_MS: '0' } })
  onTestFinished(() => void second.stop('SIGKILL'))
  const { url } = second
  for (const { kind, threadId, tab } of threads) {
    const shown = textsOf(tab.messages()).join('')
    const whole = answers[kind]
    expect(whole.startsWith(shown)).toBe(true)
    expect(shown).not.toBe(whole)
    for (const client of sdks) {
      const { tab: other, resumed } = await reload({ url, threadId, client })
      await resumed
      await other.idle()
      expect(textsOf(other.messages())).toEqual([whole])
      expect(other.messages()).toEqual(await readPage({ url, threadId, sdk: client }))
    }
    const messages = `${url}/api/threads/${threadId}/messages`
    for (const format of ['chat', 'vercel', 'entities']) {
      const page = JSON.stringify(await get(`${messages}?format=${format}`))
      const beginning = JSON.stringify(whole.slice(0, 12)).slice(1, -1)
      // AI SDK 4 has the answer in its content and in its parts.
      expect(page.split(beginning).length - 1).toBe(format === 'vercel' ? 2 : 1)
      expect(page).not.toContain('abandoned')
    }
  }
})
