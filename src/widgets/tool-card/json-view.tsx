import { type ReactNode, useState } from 'react'
import type { Json } from '../../core/json.ts'
import { StoredFileView } from '../message/file-view.tsx'
import { useStrings } from '../strings-context.tsx'
import { isStoredFile } from './stored-file.ts'

const most = 100
const longest = 2_000

/** JSON as a tree. Large values are expanded piece by piece, so that a megabyte costs nothing to show. */
export function JsonView({ value }: { readonly value: Json }): ReactNode {
  return (
    // JSON is code: it is read from left to right, whatever the page's direction.
    <div className="hf-json" dir="ltr">
      <Node value={value} depth={0} />
    </div>
  )
}

function Node({ value, depth }: { readonly value: Json; readonly depth: number }): ReactNode {
  if (typeof value === 'string') {
    return isStoredFile(value) ? <StoredFileView url={value} /> : <LongText text={value} />
  }
  if (typeof value !== 'object' || value === null) {
    return <span className="hf-json-word">{String(value)}</span>
  }
  const isList = Array.isArray(value)
  const entries = Object.entries(value) as readonly (readonly [string, Json])[]
  if (entries.length === 0) return <span className="hf-json-word">{isList ? '[ ]' : '{ }'}</span>
  if (depth === 0 && entries.length <= most) return <Entries entries={entries} depth={depth} />
  return <Branch entries={entries} isList={isList} depth={depth} />
}

function Branch(props: {
  readonly entries: readonly (readonly [string, Json])[]
  readonly isList: boolean
  readonly depth: number
}): ReactNode {
  const { entries, isList, depth } = props
  const strings = useStrings()
  const [isOpen, setOpen] = useState(depth < 2 && entries.length <= most)
  const [shown, setShown] = useState(most)
  const size = isList ? strings.items(entries.length) : strings.fields(entries.length)
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{isList ? `[ ${size} ]` : `{ ${size} }`}</summary>
      {isOpen && <Entries entries={entries.slice(0, shown)} depth={depth} />}
      {isOpen && entries.length > shown && (
        <button type="button" className="hf-quiet" onClick={() => setShown(shown + most * 10)}>
          {strings.more(entries.length - shown)}
        </button>
      )}
    </details>
  )
}

function Entries(props: {
  readonly entries: readonly (readonly [string, Json])[]
  readonly depth: number
}): ReactNode {
  return (
    <ul>
      {props.entries.map(([key, item]) => (
        <li key={key}>
          <bdi className="hf-json-key">{key}</bdi>
          <Node value={item} depth={props.depth + 1} />
        </li>
      ))}
    </ul>
  )
}

function LongText({ text }: { readonly text: string }): ReactNode {
  const strings = useStrings()
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > longest
  return (
    <span className="hf-json-text">
      <bdi>{isWhole || !isLong ? text : `${text.slice(0, longest)}…`}</bdi>
      {isLong && !isWhole && (
        <button type="button" className="hf-quiet" onClick={() => setWhole(true)}>
          {strings.moreCharacters(text.length - longest)}
        </button>
      )}
    </span>
  )
}
