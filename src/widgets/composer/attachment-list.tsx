import type { ReactNode } from 'react'
import { FilePreview } from '../message/file-view.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import type { Attachment } from './use-attachments.ts'

interface AttachmentListProps {
  readonly attachments: readonly Attachment[]
  readonly remove: (key: string) => void
  readonly retry: (key: string) => void
}

/** The attached files with their upload progress; renders nothing if there are none. */
export function AttachmentList({ attachments, remove, retry }: AttachmentListProps): ReactNode {
  const strings = useStrings()
  if (attachments.length === 0) return null
  return (
    <ul className="hf-attachments" aria-label={strings.attachments}>
      {attachments.map((attachment) => (
        <li key={attachment.key} className="hf-attachment" data-state={attachment.state.kind}>
          {attachment.state.kind === 'ready' && <FilePreview {...attachment.state.file} />}
          <span className="hf-attachment-text">
            <bdi className="hf-attachment-name" title={attachment.name}>
              {attachment.name}
            </bdi>
            <AttachmentState {...attachment} />
          </span>
          {attachment.state.kind === 'failed' && !attachment.state.isRefused && (
            <button
              type="button"
              className="hf-attachment-button"
              aria-label={strings.retryFile(attachment.name)}
              onClick={() => retry(attachment.key)}
            >
              <Icon name="refresh" />
            </button>
          )}
          <button
            type="button"
            className="hf-attachment-button"
            aria-label={strings.removeFile(attachment.name)}
            onClick={() => remove(attachment.key)}
          >
            <Icon name="cross" />
          </button>
        </li>
      ))}
    </ul>
  )
}

function AttachmentState({ name, bytes, state }: Attachment): ReactNode {
  const strings = useStrings()
  switch (state.kind) {
    case 'uploading':
      return <progress className="hf-attachment-progress" value={state.share} aria-label={name} />
    case 'failed':
      return (
        <span className="hf-attachment-error" role="alert" dir="auto" title={state.error}>
          {state.error}
        </span>
      )
    case 'ready':
      return <span className="hf-attachment-size">{strings.fileSize(bytes)}</span>
    default:
      return null
  }
}
