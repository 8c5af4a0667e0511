import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { ActionError } from '../action-error.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useAction } from '../use-action.ts'
import { useDraftText } from './use-draft-text.ts'

/** The props of `<Composer>`. */
export interface ComposerProps {
  /** What is being written is stored in the browser for each thread by itself. */
  readonly threadId: string
  /** A turn runs: nothing can be sent, and Stop stands in the place of Send. */
  readonly isRunning: boolean
  /**
   * A turn waits for a person, such as for an approval: it can be stopped, or answered with a message, so
   * Stop stands beside Send.
   *
   * @default false
   */
  readonly isWaiting?: boolean
  /** Rejects when it could not be sent. The field is emptied at once, so whoever sends keeps the text. */
  readonly send: (text: string) => Promise<void>
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
  const isEmpty = text.trim() === ''
  useEffect(() => {
    if (takesFocus) field.current?.focus()
  }, [takesFocus, threadId])

  const send = () => {
    if (isEmpty || isRunning || isDisabled) return
    setText('')
    // What could not be sent stands in the thread, with a way to send it again.
    void props.send(text).catch(() => undefined)
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
    send()
  }
  return (
    <form
      className="hf-composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <div className="hf-composer-box">
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
        {!isRunning && (
          <button
            type="submit"
            className="hf-send"
            aria-label={strings.send}
            disabled={isEmpty || isDisabled}
          >
            <Icon name="send" />
          </button>
        )}
      </div>
      {props.children}
      <ActionError error={error} />
    </form>
  )
}
