import { type CardEntry, type CardProps, isJsonObject, Markdown } from 'holdfast/widgets'
import type { ReactNode } from 'react'

/** Grows while the model writes the arguments, and is the same card when the tool is done. */
function NoteCard({ call, input, isPartial }: CardProps): ReactNode {
  // While they come, every field may be missing, and the last one may be cut off.
  const data = isJsonObject(input) ? input : {}
  const title = typeof data['title'] === 'string' ? data['title'] : '…'
  const text = typeof data['text'] === 'string' ? data['text'] : ''
  // Broken off, the arguments are not whole either; but then nothing more comes.
  const isBeingWritten = isPartial && call.state === 'streaming'
  return (
    <section>
      <h3>{title}</h3>
      <Markdown text={text} isStreaming={isBeingWritten} />
      {isBeingWritten && <small>Being written…</small>}
    </section>
  )
}

export const noteCard: CardEntry = { component: NoteCard, drawsInput: true }
