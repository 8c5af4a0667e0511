import type { ReactNode } from 'react'
import { isTurn } from '../../core/message.ts'
import { TurnView } from '../message/turn-view.tsx'
import { UserMessageView } from '../message/user-message-view.tsx'
import type { ThreadRow } from './thread-rows.ts'

export function RowView(props: { readonly row: ThreadRow; readonly isLast: boolean }): ReactNode {
  const { row, isLast } = props
  if (row.kind === 'pending') {
    return <UserMessageView id={row.key} parts={row.pending.parts} pending={row.pending} />
  }
  const { message } = row
  if (isTurn(message)) return <TurnView turn={message} isLast={isLast} />
  return <UserMessageView id={message.id} parts={message.parts} message={message} />
}
