import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type Call, needsPerson } from '../../core/call.ts'
import { callsOf, isTurn, type Message, type Turn } from '../../core/message.ts'
import { answerOf } from '../../views/commentary.ts'
import { useStrings } from '../strings-context.tsx'
import type { Strings } from '../strings.ts'
import { titleOf } from '../tool-widget/turn-summary.ts'

const longest = 600

interface AnnouncerProps {
  readonly last: Message | undefined
  /** The thread has been read: what is in it by then is history, and is not announced. */
  readonly isLoaded: boolean
}

/**
 * Announces an answer when it is complete: a live region that grows word by word cannot be followed. Announces also what a turn
 * waits for: a form is not announced when it is inserted, and neither is a live region that is inserted with its text.
 */
export function Announcer({ last, isLoaded }: AnnouncerProps): ReactNode {
  const strings = useStrings()
  const [answer, setAnswer] = useState('')
  // The seq of the newest answer that needs no announcement. Compared by seq, because a fast answer may end before it was
  // ever rendered as running. Undefined until the thread is loaded.
  const announced = useRef<number>(undefined)
  useEffect(() => {
    if (!isLoaded) return
    const turn = last !== undefined && isTurn(last) ? last : undefined
    const isEnded = turn?.progress.status === 'ended'
    announced.current ??= isEnded ? turn.seq : 0
    if (turn === undefined) return
    // A turn that is continued ends once more.
    if (!isEnded) announced.current = Math.min(announced.current, turn.seq - 1)
    else if (turn.seq > announced.current) {
      announced.current = turn.seq
      setAnswer(answerOf(turn).slice(0, longest))
    }
  }, [last, isLoaded])
  const isOpen = last !== undefined && isTurn(last) && last.progress.status !== 'ended'
  return (
    <div className="hf-visually-hidden" aria-live="polite" dir="auto">
      {/* Empty while it runs: the same question asked again is announced only if the text has changed in between. */}
      {isOpen ? questionsOf(last, strings) : answer}
    </div>
  )
}

const questionsOf = (turn: Turn, strings: Strings): string =>
  turn.progress.status === 'waiting'
    ? [...callsOf(turn)]
        .filter(needsPerson)
        .map((call) => questionOf(call, strings))
        .join(' ')
    : ''

const questionOf = (call: Call, strings: Strings): string =>
  call.state === 'unknown'
    ? strings.unknownTitle(titleOf(call))
    : strings.approvalTitle(titleOf(call))
