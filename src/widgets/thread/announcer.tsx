import { type ReactNode, useEffect, useRef, useState } from 'react'
import { isTurn, type Message } from '../../core/message.ts'
import { answerOf } from '../../views/commentary.ts'

const longest = 600

/** Reads an answer out when it is complete: a live region that grows word by word cannot be followed. */
export function Announcer({ last }: { readonly last: Message | undefined }): ReactNode {
  const [words, setWords] = useState('')
  const running = useRef<string | null>(null)
  useEffect(() => {
    if (last === undefined || !isTurn(last)) return
    if (last.progress.status === 'running') running.current = last.id
    if (last.progress.status !== 'ended' || running.current !== last.id) return
    running.current = null
    setWords(answerOf(last).slice(0, longest))
  }, [last])
  return (
    <div className="hf-visually-hidden" aria-live="polite" dir="auto">
      {words}
    </div>
  )
}
