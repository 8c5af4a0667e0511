import type { UIMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { type Script, startChatServer } from './chat-server.ts'
import { openTab, type Sdk, type Tab } from './chat-tab.ts'
import { readPage, reload, withoutDecidedApprovals } from './thread-page.ts'

const threadId = 'chat-1'

const script: Script = (text, step) => {
  if (text.startsWith('remove') && step === 0) {
    return [
      { text: 'I will remove it.' },
      { call: 'weather', input: { city: 'Oslo' } },
      ...text
        .split(' ')
        .slice(1)
        .map((path) => ({ call: 'remove', input: { path }, streamed: true })),
    ]
  }
  return [{ text: 'All done.', pieces: 3 }]
}

interface Waiting {
  readonly toolCallId: string
  readonly approval: { readonly id: string }
}

const waitingIn = (messages: readonly UIMessage[]): readonly Waiting[] =>
  (messages.at(-1)?.parts ?? []).filter(
    (part) => 'state' in part && part.state === 'approval-requested',
  ) as readonly object[] as readonly Waiting[]

async function answerAll(tab: Tab, approved: boolean, reason?: string): Promise<void> {
  for (const { approval } of waitingIn(tab.messages())) {
    await tab.chat.addToolApprovalResponse({
      id: approval.id,
      approved,
      ...(reason === undefined ? {} : { reason }),
    })
  }
  await tab.until((messages) => JSON.stringify(messages).includes('All done.'))
  await tab.idle()
}

describe.each([6, 7] as const)('AI SDK %i', (client) => {
  describe.each([client, null] as const)('declared %s', (declared: Sdk | null) => {
    const open = async () => {
      const server = await startChatServer(script)
      const place = { url: server.url, threadId, client, declared, automatic: 'approvals' } as const
      const tab = openTab(place)
      const page = () => readPage({ url: server.url, threadId, sdk: declared })
      // What a client cannot be told, and what it says itself about its own answers.
      const same = async (one: Tab) => {
        const stored = await page()
        if (declared === 7) return expect(one.messages()).toEqual(stored)
        return expect(withoutDecidedApprovals(one.messages())).toEqual(
          withoutDecidedApprovals(stored),
        )
      }
      return { ...server, place, tab, page, same }
    }

    it('[AP1 FD1] waits with the stream ended, through a reload', async () => {
      const { tab, place, page, url } = await open()
      await tab.chat.sendMessage({ text: 'remove /a /b' })
      expect(waitingIn(tab.messages())).toHaveLength(2)
      expect(tab.messages()).toEqual(await page())
      expect((await fetch(`${url}/api/chat/${threadId}/stream`)).status).toBe(204)
      const again = await reload(place)
      await again.resumed
      expect(again.tab.messages()).toEqual(tab.messages())
    })

    it('[AP5 RS3 FD1] goes on in the same message when all is approved', async () => {
      const { tab, same, ran, place, page } = await open()
      await tab.chat.sendMessage({ text: 'remove /a /b' })
      const { id } = tab.messages()[1] as UIMessage
      await answerAll(tab, true)
      expect(tab.chat.error).toBeUndefined()
      await same(tab)
      expect(tab.messages()).toHaveLength(2)
      expect(tab.messages()[1]?.id).toBe(id)
      expect(ran.toSorted()).toEqual(['remove', 'remove', 'weather'])
      const again = await reload(place)
      await again.resumed
      expect(again.tab.messages()).toEqual(await page())
    })

    it('[AP4 RS3 FD1] shows the model what was denied, and why', async () => {
      const { tab, same, ran, calls } = await open()
      await tab.chat.sendMessage({ text: 'remove /a' })
      await answerAll(tab, false, 'not that one')
      expect(tab.chat.error).toBeUndefined()
      await same(tab)
      expect(ran).toEqual(['weather'])
      expect(JSON.stringify(calls.at(-1)?.prompt)).toContain('not that one')
    })

    it('[AP2 RS3] answers a second tab that approves later with what it has not seen', async () => {
      const { tab, same, ran, place } = await open()
      await tab.chat.sendMessage({ text: 'remove /a' })
      const late = (await reload(place)).tab
      await late.idle()
      await answerAll(tab, true)
      await answerAll(late, true)
      expect(late.chat.error).toBeUndefined()
      await same(tab)
      await same(late)
      expect(ran).toEqual(['weather', 'remove'])
    })

    it('[AP8 RS3] is written to while an approval waits', async () => {
      const { tab, ran, page } = await open()
      await tab.chat.sendMessage({ text: 'remove /a' })
      await tab.chat.sendMessage({ text: 'never mind' })
      expect(tab.chat.error).toBeUndefined()
      // The first message was closed meanwhile, and this tab was not following it.
      expect(tab.messages().at(-1)).toEqual((await page()).at(-1))
      expect(await page()).toHaveLength(4)
      expect(ran).toEqual(['weather'])
    })
  })
})

describe('AI SDK 5', () => {
  it('[AP5 FD1] sees what was decided elsewhere', async () => {
    const { url, ran } = await startChatServer(script)
    const place = { url, threadId, client: 5 } as const
    const tab = openTab(place)
    await tab.chat.sendMessage({ text: 'remove /a' })
    expect(tab.messages()).toEqual(await readPage({ url, threadId, sdk: 5 }))
    const call = tab.messages()[1]?.parts.find(({ type }) => type === 'tool-remove')
    const { toolCallId } = call as unknown as Waiting
    const decided = await fetch(
      `${url}/api/threads/${threadId}/tool-calls/${toolCallId}/decision`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ decision: 'accept' }),
      },
    )
    expect(await decided.json()).toEqual({ status: 'accepted' })
    const again = await reload(place)
    await again.resumed
    expect(again.tab.messages()).toEqual(await readPage({ url, threadId, sdk: 5 }))
    expect(JSON.stringify(again.tab.messages())).toContain('All done.')
    expect(ran).toEqual(['weather', 'remove'])
  })
})
