import { memo, type ReactNode } from 'react'
import type { ItemPart, Turn } from '../../core/message.ts'
import { safeHref } from '../markdown/safe-address.ts'
import { useStrings } from '../strings-context.tsx'
import { FileView } from './file-view.tsx'

type Source = Extract<ItemPart, { readonly type: 'source-url' | 'source-document' }>

/** The files and sources of a turn, each once. */
export const TurnItems = memo(function TurnItems({ steps }: Pick<Turn, 'steps'>): ReactNode {
  const strings = useStrings()
  const parts = steps.flatMap((step) => step.parts)
  const files = parts.flatMap((part) => (part.type === 'file' ? [part] : []))
  const sources = new Map(
    parts.flatMap((part): readonly (readonly [string, Source])[] =>
      part.type === 'source-url' || part.type === 'source-document' ? [[part.sourceId, part]] : [],
    ),
  )
  return (
    <>
      {files.map((file, index) => (
        <FileView key={index} url={file.url} mediaType={file.mediaType} />
      ))}
      {sources.size > 0 && (
        <nav className="hf-sources" aria-label={strings.sources}>
          <ol>
            {[...sources].map(([id, source]) => (
              <li key={id}>
                <SourceLink source={source} />
              </li>
            ))}
          </ol>
        </nav>
      )}
    </>
  )
})

function SourceLink({ source }: { readonly source: Source }): ReactNode {
  if (source.type === 'source-document') return <bdi>{source.title}</bdi>
  const href = safeHref(source.url)
  const label = <bdi>{source.title ?? source.url}</bdi>
  if (href === undefined) return label
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {label}
    </a>
  )
}
