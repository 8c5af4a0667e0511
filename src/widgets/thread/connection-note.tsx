import type { ReactNode } from 'react'
import type { Connection } from '../../client/connection.ts'
import { Icon } from '../icon.tsx'
import type { Texts } from '../texts.ts'
import { useTexts } from '../texts-context.tsx'

/** Says how the page is connected, but only when that matters to the reader. */
export function ConnectionNote(props: {
  readonly connection: Connection
  readonly isSavingInterrupted: boolean
}): ReactNode {
  const { connection, isSavingInterrupted } = props
  const texts = useTexts()
  const words = wordsOf(connection, texts) ?? (isSavingInterrupted ? texts.savingInterrupted : null)
  return (
    <div className="hf-connection" aria-live="polite" data-connection={connection.status}>
      {words !== null && (
        <p>
          <Icon name="warning" />
          {words}
        </p>
      )}
    </div>
  )
}

function wordsOf(connection: Connection, texts: Texts): string | null {
  switch (connection.status) {
    case 'backing-off':
      return texts.reconnecting
    case 'connecting':
      return connection.attempt > 0 ? texts.reconnecting : null
    case 'offline':
      return texts.offline
    case 'idle':
    case 'live':
    case 'refused':
      return null
    default:
      return connection satisfies never
  }
}
