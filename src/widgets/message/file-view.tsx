import { type ReactNode, useState } from 'react'
import { Icon } from '../icon.tsx'
import { safeHref, safeImage } from '../markdown/safe-address.ts'
import { useStrings } from '../strings-context.tsx'
import { useFileAddress } from './use-file-address.ts'
import { useFileInfo } from './use-file-info.ts'

interface FileViewProps {
  readonly url: string
  readonly mediaType: string
  readonly filename?: string
}

/** An image inline, and any other file, or an image that cannot be shown, as a card that links to it. */
export function FileView({ url, mediaType, filename }: FileViewProps): ReactNode {
  const strings = useStrings()
  const address = useFileAddress(url)
  const [broken, setBroken] = useState<string>()
  const name = filename ?? `${strings.file} (${mediaType})`
  const isImage = isShown(mediaType)
  const image = isImage && typeof address === 'string' ? safeImage(address) : undefined
  if (image !== undefined && image !== broken) {
    return (
      <img
        className="hf-image"
        src={image}
        alt={filename ?? ''}
        loading="lazy"
        onError={() => setBroken(image)}
      />
    )
  }
  if (isImage && address === undefined) return <span className="hf-image hf-image-loading" />
  const href = typeof address === 'string' ? (safeBlob(address) ?? safeHref(address)) : undefined
  const isBroken = address === null || image !== undefined
  return <FileCard {...{ url, mediaType, name, href, isBroken }} download={filename} />
}

/** A server file of which only the address is known, such as one in the result of a tool. */
export function StoredFileView({ url }: { readonly url: string }): ReactNode {
  const strings = useStrings()
  const info = useFileInfo(url)
  // Until its type is known it might be an image, which would be drawn at once.
  if (info === undefined) return <span className="hf-file">{strings.file}</span>
  if (info !== null) return <FileView url={url} mediaType={info.mediaType} />
  return <FileCard url={url} mediaType="" name={strings.file} isBroken />
}

interface FileCardProps {
  readonly url: string
  readonly mediaType: string
  readonly name: string
  readonly href?: string | undefined
  readonly download?: string | undefined
  /** It is an image that cannot be drawn, or a file that is not there. */
  readonly isBroken: boolean
}

function FileCard({ url, mediaType, name, href, download, isBroken }: FileCardProps): ReactNode {
  const strings = useStrings()
  const info = useFileInfo(url)
  const isMissing = isBroken || info === null
  const details = [
    mediaType,
    info == null ? '' : strings.fileSize(info.bytes),
    isMissing ? strings.fileNotShown : '',
  ]
  const content = (
    <>
      <Icon name={isMissing ? 'warning' : 'file'} />
      <span className="hf-file-text">
        <bdi>{name}</bdi>
        <small>{details.filter((detail) => detail !== '').join(' · ')}</small>
      </span>
    </>
  )
  if (href === undefined || info === null) return <span className="hf-file">{content}</span>
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
  const image = isShown(mediaType) && typeof address === 'string' ? safeImage(address) : undefined
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
