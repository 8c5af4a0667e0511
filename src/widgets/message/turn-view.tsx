import { memo, type ReactNode } from 'react'
import { answerOf } from '../../views/commentary.ts'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { TurnActions } from './turn-actions.tsx'
import { TurnBody, type TurnBodyProps } from './turn-body.tsx'
import { useEffectNames, versionKeyOf } from './lasting-effects.ts'
import { TurnEndingNote } from './turn-ending.tsx'
import { EffectsNote, VersionSwitch } from './version-switch.tsx'
import { TurnModel } from './turn-model.tsx'

/** One turn. It is drawn again only when an event changed it: the fold keeps every other object as it was. */
export const TurnView = memo(function TurnView({ turn, isLast }: TurnBodyProps): ReactNode {
  const strings = useStrings()
  const { isReadOnly = false } = useCurrentThread()
  const { progress } = turn
  const [effects, setEffects] = useEffectNames(versionKeyOf(turn))
  return (
    <article
      className="hf-turn"
      data-message-id={turn.id}
      data-status={progress.status}
      aria-label={strings.assistant}
      aria-busy={progress.status === 'running'}
    >
      {/* What was opened in one version is not opened in another. */}
      <TurnBody key={turn.id} turn={turn} isLast={isLast} />
      {progress.status === 'ended' && (
        <>
          <TurnEndingNote messageId={turn.id} ending={progress.ending} isLast={isLast} />
          <TurnActions turn={turn} answer={answerOf(turn)} isLast={isLast} onEffects={setEffects} />
          {!isReadOnly && <TurnModel turn={turn} />}
        </>
      )}
      <VersionSwitch message={turn} onEffects={setEffects} />
      <EffectsNote names={effects} />
    </article>
  )
})
