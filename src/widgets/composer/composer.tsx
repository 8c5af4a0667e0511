import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { ActionError } from '../action-error.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useAction } from '../use-action.ts'
import type { UploadedFile } from '../../client/upload-file.ts'
import { AttachmentList } from './attachment-list.tsx'
import { AttachButton, FileDrop } from './attach-files.tsx'
import { type Upload, useAttachments } from './use-attachments.ts'
import { useDraftText } from './use-draft-text.ts'

/** The props of `<Composer>`. */
export interface ComposerProps {
  /** What is being written is stored in the browser for each thread by itself. */
  readonly threadId: string
  /** A turn runs: Stop stands in the place of Send, and what is written can only be sent with `steer`. */
  readonly isRunning: boolean
  /**
   * A turn waits for a person, such as for an approval: it can be stopped, or answered with a message, so
   * Stop stands beside Send.
   *
   * @default false
   */
  readonly isWaiting?: boolean
  /**
   * Rejects when it could not be sent. The field is emptied at once, so whoever sends keeps the text and the files.
   */
  readonly send: (text: string, files: readonly UploadedFile[]) => Promise<void>
  /** Sends a file to the server, such as `uploadFile` does. @default files cannot be attached */
  readonly upload?: Upload
  /**
   * Sends into the turn that runs. With it, what is written meanwhile can be sent: Enter calls `send`, which puts it behind the
   * turn, and Ctrl+Enter or ⌘+Enter calls this.
   *
   * @default nothing can be sent while a turn runs
   */
  readonly steer?: (text: string, files: readonly UploadedFile[]) => Promise<void>
  /** Ends the turn that runs or waits. When it rejects, the message of its error is shown. */
  readonly stop: () => Promise<void>
  /** Nothing can be sent; it can be written all the same. @default false */
  readonly isDisabled?: boolean
  /** The field has the focus when the thread is shown. @default false */
  readonly takesFocus?: boolean
  /** What stands under the field, such as a `<ChoicePicker>`. @default nothing */
  readonly children?: ReactNode
}

/** The field for a message. Enter sends, Shift+Enter breaks the line. It needs no thread around it. */
export function Composer(props: ComposerProps): ReactNode {
  const { threadId, isRunning, isWaiting = false, isDisabled = false, takesFocus = false } = props
  const strings = useStrings()
  const [text, setText] = useDraftText(threadId)
  const { error, run } = useAction()
  const field = useRef<HTMLTextAreaElement>(null)
  const { attachments, ...files } = useAttachments(threadId, props.upload)
  const isUploading = attachments.some(({ state }) => state.kind === 'uploading')
  const hasFiles = attachments.some(({ state }) => state.kind === 'ready')
  const isEmpty = text.trim() === '' && !hasFiles
  useEffect(() => {
    if (takesFocus) field.current?.focus()
  }, [takesFocus, threadId])

  const { steer } = props
  const canSend = !isRunning || steer !== undefined
  const send = (by: ComposerProps['send'] = props.send) => {
    if (isEmpty || isUploading || !canSend || isDisabled) return
    setText('')
    // What could not be sent stands in the thread, with a way to send it again.
    void by(text, files.take()).catch(() => undefined)
  }
  const stop = (isByKeyboard: boolean) =>
    run(async () => {
      await props.stop()
      // The button goes away, and the focus with it. A finger wants no keyboard to come up, though.
      if (isByKeyboard) field.current?.focus()
    })
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes a word, Enter belongs to it.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send(isRunning && (event.ctrlKey || event.metaKey) ? steer : undefined)
  }
  return (
    <form
      className="hf-composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <AttachmentList attachments={attachments} remove={files.remove} retry={files.retry} />
      <FileDrop canDrop={props.upload !== undefined} add={files.add} className="hf-composer-box">
        {props.upload !== undefined && <AttachButton add={files.add} />}
        {/* The same words in a cell of the same grid give the field its height. */}
        <div className="hf-grow" data-text={`${text} `}>
          <textarea
            ref={field}
            rows={1}
            dir="auto"
            value={text}
            placeholder={strings.message}
            aria-label={strings.message}
            enterKeyHint="send"
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
            onPaste={(event) => {
              const pasted = event.clipboardData.files
              if (props.upload === undefined || pasted.length === 0) return
              event.preventDefault()
              files.add(pasted)
            }}
          />
        </div>
        {(isRunning || isWaiting) && (
          <button
            type="button"
            className="hf-send hf-send-stop"
            aria-label={strings.stop}
            onClick={({ currentTarget }) => stop(currentTarget.matches(':focus-visible'))}
          >
            <Icon name="stop" />
          </button>
        )}
        {isRunning && steer !== undefined && !isEmpty && (
          <button
            type="button"
            className="hf-send hf-steer"
            aria-label={strings.steer}
            title={strings.steer}
            disabled={isUploading || isDisabled}
            onClick={() => send(steer)}
          >
            <Icon name="steer" />
          </button>
        )}
        {(!isRunning || (canSend && !isEmpty)) && (
          <button
            type="submit"
            className="hf-send"
            aria-label={isRunning ? strings.sendNext : strings.send}
            disabled={isEmpty || isUploading || isDisabled}
          >
            <Icon name="send" />
          </button>
        )}
      </FileDrop>
      {props.children}
      <ActionError error={error} />
    </form>
  )
}
