import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'
import { safeHref, safeImage } from '../markdown/safe-address.ts'
import { useStrings } from '../strings-context.tsx'
import { useFileAddress } from './use-file-address.ts'

interface FileViewProps {
  readonly url: string
  readonly mediaType: string
  readonly filename?: string
  readonly bytes?: number
}

/** A picture as it is, and any other file as a card that leads to it. */
export function FileView({ url, mediaType, filename }: FileViewProps): ReactNode {
  const strings = useStrings()
  const address = useFileAddress(url)
  const name = filename ?? `${strings.file} (${mediaType})`
  const isImage = isShown(mediaType)
  const image = isImage && address !== undefined ? safeImage(address) : undefined
  if (image !== undefined) {
    return <img className="hf-image" src={image} alt={filename ?? ''} loading="lazy" />
  }
  if (isImage && address === undefined) return <span className="hf-image hf-image-loading" />
  const href = address === undefined ? undefined : (safeBlob(address) ?? safeHref(address))
  const content = (
    <>
      <Icon name="file" />
      <span className="hf-file-text">
        <bdi>{name}</bdi>
        <small>{mediaType}</small>
      </span>
    </>
  )
  if (href === undefined) return <span className="hf-file">{content}</span>
  return (
    <a
      className="hf-file"
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      download={filename}
    >
      {content}
    </a>
  )
}

/** A small picture of an image; nothing for anything else. */
export function FilePreview({ url, mediaType }: FileViewProps): ReactNode {
  const address = useFileAddress(url)
  const image = isShown(mediaType) && address !== undefined ? safeImage(address) : undefined
  return image === undefined ? (
    <Icon name="file" />
  ) : (
    <img className="hf-thumbnail" src={image} alt="" />
  )
}

/** Drawings may hold anything, and are downloads on the server too. */
const isShown = (mediaType: string): boolean => /^image\/(?!svg)/.test(mediaType)

const safeBlob = (address: string): string | undefined =>
  address.startsWith('blob:') ? address : undefined
