import { useChat as useChat7 } from '@ai-sdk/react'
import type { UIMessage as UIMessage7 } from 'ai'
import { useChat as useChat5 } from 'ai-sdk-react5'
import { useChat as useChat6 } from 'ai-sdk-react6'
import type { UIMessage as UIMessage5 } from 'ai5'
import type { UIMessage as UIMessage6 } from 'ai6'
import { createChatTransport } from 'holdfast/client'
import type { ReactNode } from 'react'
import { expect, it } from 'vitest'

// What these show is that they compile, for each version of the SDK: a chat without further types, one
// that begins with what was loaded, and one with messages of a type of its own.

const transport = createChatTransport({ sdk: 7 })
const before = await Promise.resolve(null as never as ReturnType<typeof transport.load>)
const id = 'chat'

interface UiPart {
  readonly type: string
  readonly text?: string
}
const textOf = (messages: readonly { readonly parts: readonly UiPart[] }[]): string =>
  messages.flatMap(({ parts }) => parts.map(({ text = '' }) => text)).join('')

export function Plain(): ReactNode {
  const own = createChatTransport({
    headers: async () => new Headers({ authorization: 'Bearer x' }),
    body: () => ({ plan: 'free' }),
    credentials: 'include',
  })
  const five = useChat5({ id, transport: createChatTransport({ headers: { a: 'b' } }) })
  const six = useChat6({ id, transport: own, resume: true })
  const seven = useChat7({ id, transport: own, resume: true })
  const first: readonly UIMessage5[] = five.messages
  const second: readonly UIMessage6[] = six.messages
  const third: readonly UIMessage7[] = seven.messages
  return textOf(first) + textOf(second) + textOf(third)
}

export function Loaded(): ReactNode {
  const messages = before
  const resume = before.length > 0
  const five = useChat5({ id, transport, messages, resume })
  const six = useChat6({ id, transport, messages, resume })
  const seven = useChat7({ id, transport, messages, resume })
  return [five, six, seven].map(({ messages: all }) =>
    all.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : part.type))),
  )
}

type Own5 = UIMessage5<{ readonly model?: string }>
type Own6 = UIMessage6<{ readonly model?: string }>
type Own7 = UIMessage7<{ readonly model?: string }>

export async function typed() {
  const five = createChatTransport<Own5>({ sdk: 5 })
  const six = createChatTransport<Own6>({ sdk: 6 })
  const seven = createChatTransport<Own7>({
    sdk: 7,
    prepareSendMessagesRequest: ({ messages, body }) => ({
      body: { ...body, model: messages.at(-1)?.metadata?.model },
    }),
  })
  const [fifth, sixth, seventh] = [await five.load(id), await six.load(id), await seven.load(id)]
  return {
    model: seventh[0]?.metadata?.model,
    Five: () => useChat5({ transport: five, messages: fifth }).messages[0]?.metadata?.model,
    Six: () => useChat6({ transport: six, messages: sixth }).messages[0]?.metadata?.model,
    Seven: () => useChat7({ transport: seven, messages: seventh }).messages[0]?.metadata?.model,
  }
}

it('[RS3] the transport fits the useChat of each SDK without a cast', () => {
  for (const each of [Plain, Loaded, typed]) expect(each).toBeTypeOf('function')
})
