import type { ReactNode } from 'react'
import { safeHref, safeImage } from '../markdown/safe-address.ts'
import { useStrings } from '../strings-context.tsx'

interface FileViewProps {
  readonly url: string
  readonly mediaType: string
  readonly filename?: string
}

export function FileView({ url, mediaType, filename }: FileViewProps): ReactNode {
  const strings = useStrings()
  const name = filename ?? `${strings.file} (${mediaType})`
  const image = mediaType.startsWith('image/') ? safeImage(url) : undefined
  if (image !== undefined) return <img className="hf-image" src={image} alt={filename ?? ''} />
  const href = safeHref(url)
  if (href === undefined) return <bdi className="hf-file">{name}</bdi>
  return (
    <a className="hf-file" href={href} target="_blank" rel="noopener noreferrer nofollow">
      <bdi>{name}</bdi>
    </a>
  )
}
