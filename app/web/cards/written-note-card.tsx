import { type CardEntry, type CardProps, Icon, Markdown } from 'holdfast/widgets'
import type { ReactNode } from 'react'
import { objectOf, textOf } from './fields.ts'

/** A note from its arguments: it grows while the model writes them, and stays as it is when the tool is done. */
function WrittenNoteCard({ call, input, isPartial, output }: CardProps): ReactNode {
  const data = objectOf(input)
  const title = textOf(data, 'title', 'name')
  const text = textOf(data, 'text', 'content', 'body') ?? ''
  const isBeingWritten = isPartial && call.state === 'streaming'
  return (
    <div className="card-written" data-writing={isBeingWritten || undefined}>
      <h3>
        <Icon name="pencil" />
        <bdi>{title ?? 'A note'}</bdi>
      </h3>
      {text !== '' && <Markdown text={text} isStreaming={isBeingWritten} />}
      <p className="card-source">{noteState(isPartial, call.state, output !== null, text)}</p>
    </div>
  )
}

function noteState(
  isPartial: boolean,
  state: CardProps['call']['state'],
  isSaved: boolean,
  text: string,
): string {
  if (state === 'streaming') return 'Being written…'
  if (isPartial) return 'Not finished'
  if (isSaved) return `Saved · ${text.split(/\s+/).length} words`
  return state === 'succeeded' || state === 'ready' || state === 'running' ? 'Saving…' : 'Not saved'
}

export const writtenNoteCard: CardEntry = {
  component: WrittenNoteCard,
  drawsInput: true,
  names: ['create_note', 'writeNote', 'save_note'],
}
