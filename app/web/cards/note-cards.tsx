import type { CardEntry, CardProps, Json } from 'holdfast/widgets'
import type { ReactNode } from 'react'
import { listOf, objectOf, textOf } from './fields.ts'

function NoteCard({ input, output }: CardProps): ReactNode {
  const data = objectOf(output)
  const title = textOf(data, 'title', 'name') ?? textOf(objectOf(input), 'title') ?? 'Note'
  return (
    <div className="card-note">
      <h3>
        <bdi>{title}</bdi>
      </h3>
      <p dir="auto">{textOf(data, 'text', 'content', 'body') ?? ''}</p>
    </div>
  )
}

function NoteSearchCard({ input, output }: CardProps): ReactNode {
  const data = objectOf(output)
  const results: readonly Json[] = Array.isArray(output)
    ? output
    : listOf(data, 'results', 'notes', 'matches')
  const query = textOf(data, 'query') ?? textOf(objectOf(input), 'query') ?? ''
  return (
    <div className="card-note">
      <h3>
        Notes about “<bdi>{query}</bdi>”
      </h3>
      {results.length === 0 ? (
        <p>Nothing found.</p>
      ) : (
        <ul>
          {results.map((each, index) => {
            const note = objectOf(each)
            return (
              <li key={index}>
                <strong>
                  <bdi>{typeof each === 'string' ? each : textOf(note, 'title', 'name')}</bdi>
                </strong>{' '}
                <bdi>{textOf(note, 'snippet', 'text', 'excerpt')}</bdi>
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}

function DeletedNoteCard({ input, output }: CardProps): ReactNode {
  const title = textOf(objectOf(output), 'title') ?? textOf(objectOf(input), 'title') ?? ''
  return (
    <p className="card-line">
      Deleted the note “<bdi>{title}</bdi>”.
    </p>
  )
}

const versions = { version: '1' } as const

export const noteCard: CardEntry = {
  ...versions,
  component: NoteCard,
  upcasters: {
    // Before there were versions a note was its text.
    '0': (output) =>
      typeof output === 'string'
        ? { version: '1', text: output }
        : { ...objectOf(output), version: '1' },
  },
}
export const noteSearchCard: CardEntry = { ...versions, component: NoteSearchCard }
export const deletedNoteCard: CardEntry = { ...versions, component: DeletedNoteCard }
