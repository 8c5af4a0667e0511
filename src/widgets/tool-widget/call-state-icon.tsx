import type { ReactNode } from 'react'
import type { CallState } from '../../core/call.ts'
import { Icon, type IconName, Spinner } from '../icon.tsx'

const icons: Readonly<Record<CallState, IconName | null>> = {
  streaming: null,
  ready: 'clock',
  running: null,
  'awaiting-approval': 'hand',
  succeeded: 'check',
  failed: 'warning',
  denied: 'cross',
  stopped: 'stop',
  interrupted: 'warning',
  unknown: 'question',
}

export function CallStateIcon({ state }: { readonly state: CallState }): ReactNode {
  const name = icons[state]
  return (
    <span className={`hf-state hf-state-${state}`}>
      {name === null ? <Spinner /> : <Icon name={name} />}
    </span>
  )
}
