import type { ReactNode } from 'react'
import type { Turn } from '../../core/message.ts'
import { Icon } from '../icon.tsx'
import { usePersistentUiState } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'
import { CallRow } from './call-row.tsx'
import { CallStateIcon } from './call-state-icon.tsx'
import { alwaysShows, type CallLine, countStates, groupCalls, linesOf } from './group-calls.ts'
import { durationOf } from './turn-summary.ts'

const none: readonly string[] = []

/**
 * The calls of an expanded widget: rows, and lines that represent many rows (CO4, CO7). All are items of one list, so
 * that a row that becomes part of a group stays the same element, with its focus and expanded state.
 */
export function CallList({ turn }: { readonly turn: Turn }): ReactNode {
  // Calls and not groups are tracked: while a turn runs a group grows, and two become one. A group is open if any of
  // its calls was opened.
  const [opened, setOpened] = usePersistentUiState<readonly string[]>(`groups ${turn.id}`, none)
  const isOpened = ({ call }: CallLine) => opened.includes(call.id)
  const open = (lines: readonly CallLine[]) =>
    setOpened([...opened, ...lines.filter((line) => !isOpened(line)).map(({ call }) => call.id)])
  const close = (lines: readonly CallLine[]) =>
    setOpened(opened.filter((id) => !lines.some(({ call }) => call.id === id)))
  return (
    <ol className="hf-calls">
      {groupCalls(linesOf(turn)).flatMap((entry) => {
        if (entry.kind === 'call') {
          const { call, commentary } = entry
          // A row that is being read is not collapsed when one more call ends.
          const keepOpen = () => isOpened(entry) || open([entry])
          return [<CallRow key={call.id} call={call} commentary={commentary} onFocus={keepOpen} />]
        }
        const { lines } = entry
        const isOpen = lines.some(isOpened)
        return [
          <GroupLine
            key={`group ${lines[0]?.call.id}`}
            lines={lines}
            isOpen={isOpen}
            onToggle={() => (isOpen ? close(lines) : open(lines))}
          />,
          ...(isOpen ? lines : lines.filter(alwaysShows)).map(({ call, commentary }) => (
            <CallRow key={call.id} call={call} commentary={commentary} isGrouped />
          )),
        ]
      })}
    </ol>
  )
}

interface GroupLineProps {
  readonly lines: readonly CallLine[]
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function GroupLine({ lines, isOpen, onToggle }: GroupLineProps): ReactNode {
  const strings = useStrings()
  const ms = durationOf(lines.map(({ call }) => call))
  const bad = lines.find(alwaysShows)
  return (
    <li className="hf-call-group">
      <button type="button" aria-expanded={isOpen} onClick={onToggle}>
        <Icon name="chevron" />
        <CallStateIcon state={bad?.call.state ?? 'succeeded'} />
        <bdi>{strings.callGroup(countStates(lines))}</bdi>
        {ms !== null && <bdi className="hf-call-time">{strings.duration(ms)}</bdi>}
      </button>
    </li>
  )
}
