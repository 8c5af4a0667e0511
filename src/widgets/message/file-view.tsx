import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'
import { safeHref, safeImage } from '../markdown/safe-address.ts'
import { useStrings } from '../strings-context.tsx'
import { useFileAddress } from './use-file-address.ts'
import { useFileSize } from './use-file-size.ts'

interface FileViewProps {
  readonly url: string
  readonly mediaType: string
  readonly filename?: string
}

/** An image inline, and any other file as a card that links to it. */
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
  return <FileCard url={url} mediaType={mediaType} name={name} href={href} download={filename} />
}

interface FileCardProps {
  readonly url: string
  readonly mediaType: string
  readonly name: string
  readonly href: string | undefined
  readonly download: string | undefined
}

function FileCard({ url, mediaType, name, href, download }: FileCardProps): ReactNode {
  const strings = useStrings()
  const bytes = useFileSize(url)
  const content = (
    <>
      <Icon name="file" />
      <span className="hf-file-text">
        <bdi>{name}</bdi>
        <small>
          {bytes === undefined ? mediaType : `${mediaType} · ${strings.fileSize(bytes)}`}
        </small>
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
      download={download}
    >
      {content}
    </a>
  )
}

/** A thumbnail of an image; an icon for any other file. */
export function FilePreview({ url, mediaType }: FileViewProps): ReactNode {
  const address = useFileAddress(url)
  const image = isShown(mediaType) && address !== undefined ? safeImage(address) : undefined
  return image === undefined ? (
    <Icon name="file" />
  ) : (
    <img className="hf-thumbnail" src={image} alt="" />
  )
}

/** SVG files may contain scripts, and are downloads on the server too. */
const isShown = (mediaType: string): boolean => /^image\/(?!svg)/.test(mediaType)

const safeBlob = (address: string): string | undefined =>
  address.startsWith('blob:') ? address : undefined
