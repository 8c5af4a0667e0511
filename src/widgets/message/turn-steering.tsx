import { memo, type ReactNode } from 'react'
import type { Step } from '../../core/message.ts'
import { userTextOf } from '../../views/user-content.ts'
import { useStrings } from '../strings-context.tsx'
import { FileView } from './file-view.tsx'

/** What a person said while the turn ran, where it joined (IN3). */
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
          {part.parts.map((said, index) =>
            said.type === 'file' ? <FileView key={index} {...said} /> : null,
          )}
          <div className="hf-user-text" dir="auto">
            {userTextOf(part)}
          </div>
        </div>
      </article>
    ) : null,
  )
})
