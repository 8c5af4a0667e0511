import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { ActionError } from '../action-error.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useAction } from '../use-action.ts'
import type { UploadedFile } from '../../client/upload-file.ts'
import { AttachmentList } from './attachment-list.tsx'
import { AttachButton, FileDrop } from './attach-files.tsx'
import { type Upload, useAttachments } from './use-attachments.ts'
import { readStored, writeStored } from './stored-text.ts'

/** The props of `<Composer>`. */
export interface ComposerProps {
  /** The draft is stored in the browser separately for each thread. */
  readonly threadId: string
  /** A turn runs: Stop replaces Send, and a message can only be sent with `steer`. */
  readonly isRunning: boolean
  /**
   * A turn waits for a person, such as for an approval: it can be stopped, or answered with a message, so Stop is shown
   * next to Send.
   * @default false
   */
  readonly isWaiting?: boolean
  /**
   * Rejects when it could not be sent. The field is emptied at once, so the caller has to keep the text and the files.
   */
  readonly send: (text: string, files: readonly UploadedFile[]) => Promise<void>
  /** Uploads a file to the server, as `uploadFile` does. @default files cannot be attached */
  readonly upload?: Upload
  /**
   * Sends into the running turn. With it, a message can be sent while a turn runs: Enter calls `send`, which queues it
   * after the turn, and Ctrl+Enter or ⌘+Enter calls this.
   * @default nothing can be sent while a turn runs
   */
  readonly steer?: (text: string, files: readonly UploadedFile[]) => Promise<void>
  /** Ends the turn that runs or waits. When it rejects, the message of its error is shown. */
  readonly stop: () => Promise<void>
  /** Nothing can be sent; text can be written all the same. @default false */
  readonly isDisabled?: boolean
  /** Whether the field has the focus when the thread is shown. @default false */
  readonly takesFocus?: boolean
  /** Shown under the field, beside its buttons, such as a `<ChoicePicker>`. @default nothing */
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
    // A message that could not be sent is shown in the thread, with a button to send it again.
    void by(text, files.removeReady()).catch(() => undefined)
  }
  /** The button that sends disappears or is disabled, and the focus with it: a keyboard user continues in the field. */
  const sendFrom = (button: Element | null, by?: ComposerProps['send']) => {
    const isByKeyboard = button?.matches(':focus-visible') === true
    send(by)
    if (isByKeyboard) field.current?.focus()
  }
  const stop = (button: Element) => {
    const isByKeyboard = button.matches(':focus-visible')
    const form = button.closest('form')
    return run(async () => {
      await props.stop()
      // The button disappears, and the focus goes to what takes its place in the form, unless the person has moved it on
      // meanwhile. On a touch screen, focusing the field would open the keyboard.
      const { activeElement, body } = document
      const isHere = activeElement === body || form?.contains(activeElement) === true
      if (isByKeyboard && isHere) field.current?.focus()
    })
  }
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
        sendFrom(document.activeElement)
      }}
    >
      <FileDrop canDrop={props.upload !== undefined} add={files.add} className="hf-composer-box">
        <AttachmentList attachments={attachments} remove={files.remove} retry={files.retry} />
        {/* The same text in a cell of the same grid gives the field its height. */}
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
        <div className="hf-composer-tools">
          {props.upload !== undefined && <AttachButton add={files.add} />}
          {props.children}
          <span className="hf-composer-hint" aria-hidden="true">
            {isRunning && steer !== undefined && !isEmpty && strings.steerHint}
          </span>
          {(isRunning || isWaiting) && (
            <button
              type="button"
              className="hf-send hf-send-stop"
              aria-label={strings.stop}
              title={strings.stop}
              onClick={({ currentTarget }) => stop(currentTarget)}
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
              aria-keyshortcuts="Control+Enter Meta+Enter"
              disabled={isUploading || isDisabled}
              onClick={({ currentTarget }) => sendFrom(currentTarget, steer)}
            >
              <Icon name="steer" />
            </button>
          )}
          {(!isRunning || (canSend && !isEmpty)) && (
            <button
              type="submit"
              className="hf-send"
              aria-label={isRunning ? strings.sendNext : strings.send}
              title={isRunning ? strings.sendNext : strings.send}
              disabled={isEmpty || isUploading || isDisabled}
            >
              <Icon name="send" />
            </button>
          )}
        </div>
      </FileDrop>
      <ActionError error={error} />
    </form>
  )
}

/** The draft survives a reload, separately for each thread. */
function useDraftText(threadId: string): readonly [string, (text: string) => void] {
  const key = `holdfast:draft:${threadId}`
  const [draft, setDraft] = useState(() => ({ key, text: readStored(key) }))
  // A composer may switch threads: a draft stays with the thread that it was written for.
  const text = draft.key === key ? draft.text : readStored(key)
  const change = (next: string) => {
    setDraft({ key, text: next })
    writeStored(key, next)
  }
  return [text, change]
}
