import { type ReactNode, useMemo, useRef } from 'react'
import { type UploadedFile, uploadFile } from '../../client/upload-file.ts'
import { isTurn, type UserPart } from '../../core/message.ts'
import { useClients } from '../../react/holdfast-provider.tsx'
import { useThread } from '../../react/use-thread.ts'
import { CallActionsProvider } from '../call-actions.ts'
import { ChoicePicker } from '../composer/choice-picker.tsx'
import { Composer } from '../composer/composer.tsx'
import { PersistentUiStateProvider } from '../persistent-ui-state.tsx'
import { MessageList } from '../message-list/message-list.tsx'
import { QueueList } from '../queue/queue-list.tsx'
import { ThreadProvider } from '../thread-context.ts'
import { Announcer } from './announcer.tsx'
import { ConnectionNote } from './connection-note.tsx'
import { Refusal } from './refusal.tsx'
import { ThreadSkeleton } from './thread-skeleton.tsx'
import { useThreadActions } from './use-thread-actions.ts'
import { useRestoredFocus } from './use-restored-focus.ts'
import { useShownTarget } from './use-shown-target.ts'
import { useUnsent } from './use-unsent.ts'

/** The props of `<Thread>`. */
export interface ThreadProps {
  /** Another id shows another thread; the UI state of the first one is discarded. */
  readonly threadId: string
  /**
   * The thread is created by its first message, so it is not requested from the server.
   * @default false
   */
  readonly isNew?: boolean
  /**
   * The id of a message or of a call that is to be shown first; older messages are loaded until it is there.
   *
   * @default the end of the thread
   */
  readonly target?: string | undefined
  /** Shown while there is no message. @default nothing */
  readonly empty?: ReactNode
  /** Whether the composer has the focus when the thread is shown. @default false */
  readonly takesFocus?: boolean
  /** Opens a thread that was forked from this one (VR4). @default there is no fork button */
  readonly onFork?: (threadId: string) => void
}

/**
 * A whole conversation: messages, tools, approvals, composer. It fills the height of its container, and needs a
 * `<HoldfastProvider>` around it.
 */
export function Thread(props: ThreadProps): ReactNode {
  // The UI state belongs to one thread.
  return (
    <PersistentUiStateProvider key={props.threadId}>
      <ThreadBody {...props} />
    </PersistentUiStateProvider>
  )
}

/** Files before text, in reading order; a message of files alone has no text. */
const toParts = (text: string, files: readonly UploadedFile[]): readonly UserPart[] => [
  ...files.map(({ bytes: _, ...file }) => file),
  ...(text.trim() === '' ? [] : [{ type: 'text', text } as const]),
]

function ThreadBody(props: ThreadProps): ReactNode {
  const { threadId, isNew = false, target, empty = null, takesFocus = false, onFork } = props
  const clients = useClients()
  const client = useMemo(() => clients.thread(threadId, isNew), [clients, threadId, isNew])
  const current = useMemo(() => ({ threadId, client, onFork }), [threadId, client, onFork])
  const actions = useThreadActions(current)
  const thread = useThread(threadId, { isNew })
  const { messages, pending, status, connection, isRunning, isSavingInterrupted } = thread
  const section = useRef<HTMLElement>(null)
  useRestoredFocus(section)
  useUnsent(threadId, client, thread)
  useShownTarget(client, thread, target)
  const last = messages.at(-1)
  const isEmpty = messages.length === 0 && pending.length === 0
  const isRefused = connection.status === 'refused'
  return (
    <ThreadProvider value={current}>
      <CallActionsProvider value={actions}>
        <section ref={section} className="hf-thread" data-thread-status={status}>
          {isRefused && isEmpty && <Refusal code={connection.code} />}
          {status === 'loading' && isEmpty && !isRefused && <ThreadSkeleton />}
          {status === 'ready' && isEmpty && <div className="hf-empty">{empty}</div>}
          {!isEmpty && (
            <MessageList
              messages={messages}
              pending={pending}
              hasOlder={thread.hasOlder}
              isLoadingOlder={thread.isLoadingOlder}
              loadOlder={thread.loadOlder}
              target={target}
            />
          )}
          <Announcer last={last} isLoaded={status === 'ready'} />
          {isRefused ? (
            !isEmpty && <Refusal code={connection.code} />
          ) : (
            <div className="hf-foot">
              <ConnectionNote connection={connection} isSavingInterrupted={isSavingInterrupted} />
              <QueueList
                queue={thread.queue}
                edit={client.editQueued}
                move={client.moveQueued}
                withdraw={client.withdraw}
                release={client.release}
              />
              <Composer
                threadId={threadId}
                isRunning={isRunning}
                isWaiting={last !== undefined && isTurn(last) && last.progress.status === 'waiting'}
                takesFocus={takesFocus}
                send={(text, files) => client.send(toParts(text, files))}
                steer={(text, files) => client.send(toParts(text, files), { whenBusy: 'steer' })}
                upload={(file, options) => uploadFile(clients.api, file, options)}
                stop={client.stop}
              >
                <ChoicePicker
                  threadId={threadId}
                  client={client}
                  lastTurn={messages.findLast(isTurn)}
                />
              </Composer>
            </div>
          )}
        </section>
      </CallActionsProvider>
    </ThreadProvider>
  )
}
