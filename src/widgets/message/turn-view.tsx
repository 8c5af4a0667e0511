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

/** One turn. It is rendered again only when an event changed it: the fold keeps every other object unchanged. */
export const TurnView = memo(function TurnView({ turn, isLast }: TurnBodyProps): ReactNode {
  const strings = useStrings()
  const { isReadOnly = false } = useCurrentThread()
  const { progress } = turn
  const ended = progress.status === 'ended' ? progress.ending : undefined
  const [effects, setEffects] = useEffectNames(versionKeyOf(turn))
  return (
    <article
      className="hf-turn"
      data-message-id={turn.id}
      data-status={progress.status}
      aria-label={strings.assistant}
      aria-busy={progress.status === 'running'}
    >
      {/* State of one version (what is expanded) must not apply to another. */}
      <TurnBody key={turn.id} turn={turn} isLast={isLast} />
      {ended !== undefined && <TurnEndingNote messageId={turn.id} ending={ended} isLast={isLast} />}
      <div className="hf-message-foot">
        <VersionSwitch message={turn} onEffects={setEffects} />
        {ended !== undefined && (
          <>
            <TurnActions
              turn={turn}
              answer={answerOf(turn)}
              isLast={isLast}
              onEffects={setEffects}
            />
            {!isReadOnly && <TurnModel turn={turn} />}
          </>
        )}
      </div>
      <EffectsNote names={effects} />
    </article>
  )
})
