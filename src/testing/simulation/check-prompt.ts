import { isOpenCall } from '../../core/call.ts'
import { callsOf } from '../../core/message.ts'
import type { PromptMessage } from '../scripted-model.ts'
import { findPromptFault } from './find-prompt-fault.ts'
import type { Witness } from './witness.ts'
import type { Report } from './violation.ts'

/** User messages are numbered in their text, so that a prompt can be told apart and checked for gaps. */
export const userText = (id: string): string => `message <${id}>`
const numbered = /<([^>]+)>/g

/** What the model is sent is valid (ST3), and has every message that is shown (LG4, LG6). */
export function checkPrompt(
  process: string,
  prompt: readonly PromptMessage[],
  witnesses: Iterable<Witness>,
  report: Report,
): void {
  const fault = findPromptFault(prompt)
  if (fault !== undefined) report('ST3', `a prompt ${fault}\n  ${JSON.stringify(prompt)}`)
  const sent = prompt.flatMap(({ role, content }) =>
    role === 'user' ? [...JSON.stringify(content).matchAll(numbered)].map((match) => match[1]) : [],
  )
  const last = sent.at(-1)
  for (const { view, lease, runSeq, events } of witnesses) {
    const turn = view.messages.findLast((message) => message.role === 'assistant')
    // One that was taken over may still speak of how things stood when it began.
    if (turn?.role !== 'assistant' || turn.replyTo !== last) continue
    // A person may open a call again at any time; the run hears of it with its next commit.
    const reopened = new Set(
      events.flatMap((event) =>
        event.type === 'call-resolved' && event.seq > runSeq ? [event.callId] : [],
      ),
    )
    const open = [...callsOf(turn)].filter(isOpenCall).filter(({ id }) => !reopened.has(id))
    if (lease?.holder === process && !lease.isAgain && open.length > 0) {
      report('CL3', `the model was called while ${open[0]?.id} was ${open[0]?.state}`)
    }
    const shown = view.messages.flatMap(({ role, id, seq }) =>
      role === 'user' && seq < turn.seq ? [id as string] : [],
    )
    if (shown.join(' ') !== sent.join(' ')) {
      report('LG6', `a prompt has [${sent.join(' ')}] of [${shown.join(' ')}]`)
    }
  }
}
