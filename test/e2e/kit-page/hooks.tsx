import { useConnection, useMessages, useThreads, useToolCalls } from 'holdfast/react'
import type { ReactNode } from 'react'

const wordsOf = (call: { readonly name: string; readonly status: string }): string =>
  `${call.name}: ${call.status}`

/** What the hooks give for a thread, written down for a test to read. */
export function Hooks(props: { readonly threadId: string; readonly isNew: boolean }): ReactNode {
  const { threadId, isNew } = props
  const { messages, hasOlder, loadOlder } = useMessages(threadId, { isNew })
  const { status } = useConnection(threadId, { isNew })
  const { threads } = useThreads()
  const turn = messages.findLast(({ role }) => role === 'assistant')
  const { toolCalls, ...calls } = useToolCalls(turn?.id)
  const { toolCalls: all } = useToolCalls(turn?.id, { include: 'all' })
  const given = {
    messages: messages.length,
    hasOlder,
    status,
    threads: threads.map(({ id }) => id),
    calls: { ...calls, states: toolCalls.map(wordsOf) },
    all: all.map(wordsOf),
  }
  return (
    <>
      <output>{JSON.stringify(given)}</output>
      <button type="button" onClick={() => void loadOlder()}>
        Older
      </button>
    </>
  )
}
