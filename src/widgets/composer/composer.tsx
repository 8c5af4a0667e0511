import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { ActionError } from '../action-error.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useAction } from '../use-action.ts'
import { useDraftText } from './use-draft-text.ts'

export interface ComposerProps {
  readonly threadId: string
  readonly isRunning: boolean
  /** Rejects when it could not be sent; the text is then kept. */
  readonly send: (text: string) => Promise<void>
  readonly stop: () => Promise<void>
  readonly isDisabled?: boolean
  readonly takesFocus?: boolean
}

/** Enter sends, Shift+Enter breaks the line. */
export function Composer(props: ComposerProps): ReactNode {
  const { threadId, isRunning, isDisabled = false, takesFocus = false } = props
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
        {isRunning ? (
          <button
            type="button"
            className="hf-send hf-send-stop"
            aria-label={strings.stop}
            onClick={() => run(props.stop)}
          >
            <Icon name="stop" />
          </button>
        ) : (
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
      <ActionError error={error} />
    </form>
  )
}
