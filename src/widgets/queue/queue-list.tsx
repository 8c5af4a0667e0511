import type { ReactNode } from 'react'
import type { InputQueue } from '../../core/queued-input.ts'
import { ActionError } from '../action-error.tsx'
import { useStrings } from '../strings-context.tsx'
import { useAction } from '../use-action.ts'
import { QueueItem } from './queue-item.tsx'

/** The props of `<QueueList>`. */
export interface QueueListProps {
  /** The queued inputs, in the order in which they are answered. Nothing is rendered when it is empty. */
  readonly queue: InputQueue
  /** Changes the text of an input. */
  readonly edit: (id: string, text: string) => Promise<void>
  /** Moves an input before another; null: to the end. */
  readonly move: (id: string, before: string | null) => Promise<void>
  readonly withdraw: (id: string) => Promise<void>
  /** Releases the inputs that a stop held back. */
  readonly release: () => Promise<void>
}

/** The queued inputs, above the composer. It needs no thread around it. */
export function QueueList(props: QueueListProps): ReactNode {
  const { queue, edit, move, withdraw, release } = props
  const strings = useStrings()
  const { isBusy, error, run } = useAction()
  const held = queue.filter((input) => input.held).length
  if (queue.length === 0) return null
  return (
    <section className="hf-queue" aria-label={strings.queue}>
      <div className="hf-queue-head">
        <output dir="auto">
          {held > 0 ? strings.heldBack(held) : strings.waitingInputs(queue.length)}
        </output>
        {held > 0 && (
          <button
            type="button"
            className="hf-button"
            aria-disabled={isBusy}
            onClick={() => run(() => release())}
          >
            {strings.sendNow}
          </button>
        )}
      </div>
      <ActionError error={error} />
      <ol>
        {queue.map((input, index) => {
          const afterNext = queue[index + 2]?.id ?? null
          const before = queue[index - 1]?.id
          const isLast = index === queue.length - 1
          return (
            <QueueItem
              key={input.id}
              input={input}
              place={index}
              edit={(text) => edit(input.id, text)}
              moveUp={before === undefined ? undefined : () => move(input.id, before)}
              moveDown={isLast ? undefined : () => move(input.id, afterNext)}
              withdraw={() => withdraw(input.id)}
            />
          )
        })}
      </ol>
    </section>
  )
}
