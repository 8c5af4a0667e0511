import { type ReactNode, useMemo } from 'react'
import { useClients } from '../../react/holdfast-provider.tsx'
import { useSharedThread } from '../../react/use-shared-thread.ts'
import { type CallActions, CallActionsProvider } from '../call-actions.ts'
import { MessageList } from '../message-list/message-list.tsx'
import { PersistentUiStateProvider } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'
import { ThreadProvider } from '../thread-context.ts'
import { Refusal } from './refusal.tsx'
import { ThreadSkeleton } from './thread-skeleton.tsx'

/** The props of `<SharedThread>`. */
export interface SharedThreadProps {
  /** The id of the link. */
  readonly shareId: string
}

/**
 * A shared conversation (FK5): read-only, without a composer. It fills the height of its container, and needs a
 * `<HoldfastProvider>` around it, without sign-in.
 */
export function SharedThread({ shareId }: SharedThreadProps): ReactNode {
  return (
    <PersistentUiStateProvider key={shareId}>
      <SharedBody shareId={shareId} />
    </PersistentUiStateProvider>
  )
}

const noPending = [] as const

function SharedBody({ shareId }: SharedThreadProps): ReactNode {
  const strings = useStrings()
  const clients = useClients()
  const client = useMemo(() => clients.shared(shareId), [clients, shareId])
  const current = useMemo(
    () => ({ threadId: shareId, client, isReadOnly: true }),
    [shareId, client],
  )
  const actions = useMemo((): CallActions => ({ loadResult: client.loadResult }), [client])
  const { status, messages, hasOlder, isLoadingOlder, connection, sharedAt, loadOlder } =
    useSharedThread(shareId)
  const isRefused = connection.status === 'refused'
  return (
    <ThreadProvider value={current}>
      <CallActionsProvider value={actions}>
        <section className="hf-thread" data-thread-status={status} data-shared="true">
          {isRefused && <Refusal code={connection.code} />}
          {status === 'loading' && !isRefused && <ThreadSkeleton />}
          {status === 'ready' && (
            <MessageList
              messages={messages}
              pending={noPending}
              hasOlder={hasOlder}
              isLoadingOlder={isLoadingOlder}
              loadOlder={loadOlder}
            />
          )}
          {sharedAt !== null && (
            <p className="hf-shared-note">{strings.sharedNote(new Date(sharedAt))}</p>
          )}
        </section>
      </CallActionsProvider>
    </ThreadProvider>
  )
}
