import { type MessageId, parseMessageId, type ThreadId } from '../../core/ids.ts'
import type { SendRequest, SendResult } from '../../engine/send.ts'
import { userText } from './check-prompt.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** What users do with messages, and what they may hold the engine to afterwards. */
export interface Senders {
  readonly accepted: ReadonlyMap<ThreadId, ReadonlySet<MessageId>>
  send(threadId: ThreadId, process: SimulatedProcess): void
  /** The same message again, as a client does that got no answer. */
  repeat(threadId: ThreadId, process: SimulatedProcess): void
  edit(threadId: ThreadId, process: SimulatedProcess): void
  regenerate(threadId: ThreadId, process: SimulatedProcess): void
  continue(threadId: ThreadId, process: SimulatedProcess): void
}

export function createSenders(world: World): Senders {
  const { random, requests, report, count } = world
  const accepted = new Map<ThreadId, Set<MessageId>>()
  const tried = new Map<ThreadId, MessageId[]>()

  const isStored = (threadId: ThreadId, id: MessageId): boolean =>
    world
      .witnessOf(threadId)
      .events.some(
        (event) =>
          event.type === 'message-added' &&
          event.messageId === id &&
          JSON.stringify(event.parts).includes(userText(id)),
      )

  const ask = (process: SimulatedProcess, request: SendRequest) => {
    const { threadId, message } = request
    const attempts = tried.get(threadId) ?? []
    tried.set(threadId, [...attempts, message.id])
    const isFirst = !attempts.includes(message.id)
    const replaces = request.replaces === undefined ? '' : ` for ${request.replaces}`
    requests.ask<SendResult>({
      process: process.name,
      label: `send ${message.id}${replaces} to ${threadId}`,
      send: () => process.holdfast.send(request),
      faults: ['message-not-found'],
      answered(answer) {
        switch (answer.kind) {
          case 'started':
          case 'joined':
          case 'repeated':
            if (answer.kind !== 'started') count('message-repeated')
            if (!isStored(threadId, message.id)) report('LG6', `${message.id} was not stored`)
            accepted.set(threadId, (accepted.get(threadId) ?? new Set()).add(message.id))
            return
          case 'run-active': {
            count('message-refused')
            const again = tried.get(threadId)?.filter((id) => id === message.id).length ?? 0
            if (isFirst && again === 1 && isStored(threadId, message.id)) {
              report('RS5', `${message.id} was refused and stored all the same`)
            }
            return
          }
          default:
            report('LG6', `${message.id}: ${answer.kind}`)
        }
      },
    })
  }

  const messageOf = (id: MessageId): SendRequest['message'] => ({
    id,
    parts: [{ type: 'text', text: userText(id) }],
  })
  const shownTo = (threadId: ThreadId) => world.witnessOf(threadId).view.messages

  return {
    accepted,
    send(threadId, process) {
      ask(process, { threadId, message: messageOf(parseMessageId(world.newId('user'))) })
    },
    repeat(threadId, process) {
      const ids = tried.get(threadId) ?? []
      const isRetired = (id: MessageId) =>
        isStored(threadId, id) && !shownTo(threadId).some((message) => message.id === id)
      // One that was edited away is not sent again by anybody.
      const candidates = ids.slice(-8).filter((id) => !isRetired(id))
      if (candidates.length === 0) return
      ask(process, { threadId, message: messageOf(random.pick(candidates)) })
    },
    edit(threadId, process) {
      const users = shownTo(threadId).filter(({ role }) => role === 'user')
      if (users.length === 0) return
      const replaces = random.pick(users).id
      const id = random.chance(0.5) ? replaces : parseMessageId(world.newId('user'))
      count('edit')
      ask(process, { threadId, message: messageOf(id), replaces })
    },
    regenerate(threadId, process) {
      const turns = shownTo(threadId).filter(({ role }) => role === 'assistant')
      const target = random.chance(0.5) || turns.length === 0 ? undefined : random.pick(turns).id
      requests.ask({
        process: process.name,
        label: `regenerate ${target ?? 'the last'} of ${threadId}`,
        send: () =>
          process.holdfast.regenerate({
            threadId,
            ...(target === undefined ? {} : { messageId: target }),
          }),
        faults: ['message-not-found'],
        answered(answer) {
          if (answer.kind === 'started') count('regenerate')
        },
      })
    },
    continue(threadId, process) {
      requests.ask({
        process: process.name,
        label: `continue ${threadId}`,
        send: () => process.holdfast.continue(threadId),
        answered(answer) {
          if (answer.kind === 'continued') count('continue')
        },
      })
    },
  }
}
