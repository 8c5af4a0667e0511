import type { ReactNode } from 'react'
import type { Connection } from '../../client/connection.ts'
import { Icon } from '../icon.tsx'
import type { Strings } from '../strings.ts'
import { useStrings } from '../strings-context.tsx'

/** Shows the state of the connection, but only when it matters to the reader. */
export function ConnectionNote(props: {
  readonly connection: Connection
  readonly isSavingInterrupted: boolean
}): ReactNode {
  const { connection, isSavingInterrupted } = props
  const strings = useStrings()
  const text =
    textOf(connection, strings) ?? (isSavingInterrupted ? strings.savingInterrupted : null)
  return (
    <div className="hf-connection" aria-live="polite" data-connection={connection.status}>
      {text !== null && (
        <p>
          <Icon name="warning" />
          {text}
        </p>
      )}
    </div>
  )
}

function textOf(connection: Connection, strings: Strings): string | null {
  switch (connection.status) {
    case 'backing-off':
      return strings.reconnecting
    case 'connecting':
      return connection.attempt > 0 ? strings.reconnecting : null
    case 'offline':
      return strings.offline
    case 'idle':
    case 'live':
    case 'refused':
      return null
    default:
      return connection satisfies never
  }
}
