// A host that keeps its own useChat and its own messages, and takes only the widgets.

import 'holdfast/widgets.css'
import { useChat } from '@ai-sdk/react'
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import { createChatTransport } from 'holdfast/client'
import {
  CallActionsProvider,
  CardProvider,
  type CardRegistry,
  TurnBody,
  useChatActions,
  useChatTurn,
} from 'holdfast/widgets'
import { type ReactNode, StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'

const id = location.pathname.slice(1)
const transport = createChatTransport<UIMessage>({ sdk: 7 })
const before = location.search === '?new' ? [] : await transport.load(id)

const cards: CardRegistry = {
  get_weather: {
    component: ({ output }) => (
      <p className="city-card">{(output as { readonly city: string }).city}</p>
    ),
  },
}

function Chat(): ReactNode {
  const chat = useChat({
    id,
    messages: before,
    resume: before.length > 0,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const [text, setText] = useState('')
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming'
  return (
    <CardProvider cards={cards}>
      <CallActionsProvider value={useChatActions(chat)}>
        {chat.messages.map((message, index) => (
          <Message
            key={message.id}
            message={message}
            isLast={index === chat.messages.length - 1}
            isLive={isBusy && index === chat.messages.length - 1}
          />
        ))}
      </CallActionsProvider>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void chat.sendMessage({ text })
          setText('')
        }}
      >
        <input
          aria-label="Message Holdfast…"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
    </CardProvider>
  )
}

interface MessageProps {
  readonly message: UIMessage
  readonly isLast: boolean
  readonly isLive: boolean
}

function Message({ message, isLast, isLive }: MessageProps): ReactNode {
  const turn = useChatTurn(message, isLive)
  if (turn === null) return <p className="hf-user">{textOf(message)}</p>
  return (
    <article className="hf-turn" data-status={turn.progress.status}>
      <TurnBody turn={turn} isLast={isLast} />
    </article>
  )
}

const textOf = ({ parts }: UIMessage): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')

const root = document.querySelector('#root')
if (root === null) throw new Error('The page has no #root.')
createRoot(root).render(
  <StrictMode>
    <Chat />
  </StrictMode>,
)
