import { callsOf, foldThread, type Message, type ThreadView } from 'holdfast'

type Fold = typeof foldThread

export function foldWithoutResults(...[view, changes]: Parameters<Fold>): ThreadView {
  const isLost = (change: (typeof changes)[number]) =>
    change.kind === 'event' && change.event.type === 'call-settled'
  const last = changes.at(-1)
  const folded = foldThread(
    view,
    changes.filter((change) => !isLost(change)),
  )
  return last === undefined ? folded : { ...folded, seq: last.seq }
}

export function foldAndReopen(...[view, changes]: Parameters<Fold>): ThreadView {
  const folded = foldThread(view, changes)
  const reopen = (message: Message): Message => {
    if (message.role !== 'assistant' || message.progress.status !== 'ended') return message
    if ([...callsOf(message)].every(({ state }) => state !== 'failed')) return message
    const steps = message.steps.map((step) => ({
      ...step,
      parts: step.parts.map((part) =>
        part.type === 'call' && part.state === 'failed'
          ? ({ ...part, state: 'ready' } as unknown as typeof part)
          : part,
      ),
    }))
    return { ...message, steps }
  }
  return { ...folded, messages: folded.messages.map(reopen) }
}

export function foldAndForget(...[view, changes]: Parameters<Fold>): ThreadView {
  const folded = foldThread(view, changes)
  return { ...folded, messages: folded.messages.slice(-4) }
}
