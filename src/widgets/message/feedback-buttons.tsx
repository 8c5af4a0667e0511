import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import { type Feedback, type FeedbackRating, longestComment } from '../../core/feedback.ts'
import type { Turn } from '../../core/message.ts'
import { useAgent } from '../../react/use-agent.ts'
import { ActionError } from '../action-error.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { useAction } from '../use-action.ts'
import { useReturnedFocus } from '../use-returned-focus.ts'

/**
 * A person's feedback on an answer: up, down, and an optional comment (FK4). The pressed button is the stored rating;
 * pressing it again withdraws it.
 */
export function FeedbackButtons({ turn }: { readonly turn: Turn }): ReactNode {
  const strings = useStrings()
  const { client } = useCurrentThread()
  const { person } = useAgent()
  const { isBusy, error, run } = useAction()
  const [isWriting, setWriting] = useState(false)
  const pressed = useRef<HTMLButtonElement>(null)
  const own = ownFeedback(turn, person)
  const rate = (rating: FeedbackRating) =>
    run(async () => {
      const isBack = own?.rating === rating
      await client.giveFeedback(turn.id, { rating: isBack ? null : rating })
      setWriting(!isBack)
    })
  const close = () => setWriting(false)
  useReturnedFocus(isWriting, pressed)
  const button = (rating: FeedbackRating, label: string) => (
    <button
      type="button"
      className="hf-quiet hf-rate"
      aria-pressed={own?.rating === rating}
      aria-label={label}
      title={label}
      // Not disabled: a disabled button would lose the focus.
      aria-disabled={isBusy}
      onClick={({ currentTarget }) => {
        pressed.current = currentTarget
        rate(rating)
      }}
    >
      <Icon name={rating === 'up' ? 'thumb-up' : 'thumb-down'} />
    </button>
  )
  return (
    <>
      <fieldset className="hf-feedback" aria-label={strings.rateAnswer}>
        {button('up', strings.rateUp)}
        {button('down', strings.rateDown)}
      </fieldset>
      {isWriting && own !== undefined && (
        <CommentForm
          comment={own.comment ?? ''}
          isBusy={isBusy}
          onClose={close}
          onSend={(comment) =>
            run(async () => {
              await client.giveFeedback(turn.id, { rating: own.rating, comment })
              close()
            })
          }
        />
      )}
      <ActionError error={error} />
    </>
  )
}

/** This person's feedback; without identified persons, the last one. */
const ownFeedback = ({ feedback }: Turn, person: string | null): Feedback | undefined =>
  person === null ? feedback?.at(-1) : feedback?.find(({ by }) => by === person)

interface CommentFormProps {
  readonly comment: string
  readonly isBusy: boolean
  readonly onSend: (comment: string) => void
  readonly onClose: () => void
}

function CommentForm({ comment, isBusy, onSend, onClose }: CommentFormProps): ReactNode {
  const strings = useStrings()
  const id = useId()
  const [text, setText] = useState(comment)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    onClose()
  }
  return (
    <form
      className="hf-feedback-form"
      onSubmit={(event) => {
        event.preventDefault()
        onSend(text.trim())
      }}
    >
      <label htmlFor={id}>{strings.feedbackComment}</label>
      <div>
        <input
          id={id}
          dir="auto"
          value={text}
          maxLength={longestComment}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- it appears where a button has just been pressed
          autoFocus
          onKeyDown={onKeyDown}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="hf-button hf-button-strong" aria-disabled={isBusy}>
          {strings.sendFeedback}
        </button>
        <button type="button" className="hf-button" onClick={onClose}>
          {strings.cancel}
        </button>
      </div>
    </form>
  )
}
