import { memo, type ReactNode } from 'react'
import type { Step } from '../../core/message.ts'
import { userTextOf } from '../../views/user-content.ts'
import { useStrings } from '../strings-context.tsx'
import { FileView } from './file-view.tsx'
import { UserText } from './user-text.tsx'

/** A message that a person sent while the turn ran, where it joined (IN3). */
export const TurnSteering = memo(function TurnSteering({
  step,
}: {
  readonly step: Step
}): ReactNode {
  const strings = useStrings()
  return step.parts.map((part) =>
    part.type === 'steering' ? (
      <article
        key={part.id}
        className="hf-steering"
        data-message-id={part.id}
        aria-label={strings.you}
      >
        <div className="hf-bubble">
          {part.parts.map((each, index) =>
            each.type === 'file' ? <FileView key={index} {...each} /> : null,
          )}
          <UserText id={part.id} text={userTextOf(part)} />
        </div>
      </article>
    ) : null,
  )
})
