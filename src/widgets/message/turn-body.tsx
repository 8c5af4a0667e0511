import { Fragment, memo, type ReactNode } from 'react'
import type { ItemPart, Step, Turn } from '../../core/message.ts'
import { InlineToolWidget } from '../tool-widget/inline-tool-widget.tsx'
import { TurnCards } from './turn-cards.tsx'
import { stretchesOf } from './turn-stretches.ts'
import { isAnswerStep, stepTextOf } from '../../views/commentary.ts'
import { isBrokenAttempt } from '../../views/shown-parts.ts'
import { Icon } from '../icon.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { useStrings } from '../strings-context.tsx'
import { userTextOf } from '../../views/user-content.ts'
import { FileView } from './file-view.tsx'
import { UserText } from './user-text.tsx'
import { safeHref } from '../markdown/safe-address.ts'

/** The props of `<TurnBody>`. */
export interface TurnBodyProps {
  /** The turn; `useChatTurn` creates one from a message of `useChat`. */
  readonly turn: Turn
  /** Nothing follows the turn. Only then can a call with an unknown outcome still be resolved. */
  readonly isLast: boolean
}

/**
 * The content of a turn: tool widget, cards, text, sources. It needs no `<Thread>` around it, so a host application
 * with messages of its own can render it.
 */
export function TurnBody({ turn, isLast }: TurnBodyProps): ReactNode {
  return (
    <>
      {stretchesOf(turn).map((stretch, index) => (
        <Stretch key={index} turn={stretch} isLast={isLast} />
      ))}
      <TurnItems steps={turn.steps} />
    </>
  )
}

function Stretch({ turn, isLast }: TurnBodyProps): ReactNode {
  const { steps } = turn
  return (
    <>
      {steps.map((step) => (
        <TurnFolds key={step.index} step={step} />
      ))}
      <InlineToolWidget turn={turn} />
      <TurnCards turn={turn} isLast={isLast} />
      {steps.map((step) => (
        <Fragment key={step.index}>
          <TurnText step={step} />
          <TurnSteering step={step} />
        </Fragment>
      ))}
    </>
  )
}

/** The parts of a step besides its answer, collapsed: the model's reasoning, and attempts that broke off. */
const TurnFolds = memo(function TurnFolds({ step }: { readonly step: Step }): ReactNode {
  const strings = useStrings()
  const reasoning = step.parts
    .flatMap((part) => (part.type === 'reasoning' ? [part.text] : []))
    .join('\n\n')
  return (
    <>
      {reasoning.trim() !== '' && (
        <Fold label={strings.reasoning} kind="reasoning" text={reasoning} step={step} />
      )}
      {isBrokenAttempt(step) && stepTextOf(step).trim() !== '' && (
        <Fold label={strings.attempt} kind="attempt" text={stepTextOf(step)} step={step} />
      )}
    </>
  )
})

function Fold(props: {
  readonly label: string
  readonly kind: string
  readonly text: string
  readonly step: Step
}): ReactNode {
  return (
    <details className="hf-aside" data-role={props.kind}>
      <summary>
        <Icon name="chevron" />
        {props.label}
      </summary>
      <Markdown text={props.text} isStreaming={props.step.status === 'open'} />
    </details>
  )
}

/**
 * The text of one step in the position of the answer (CO2). While the step is open it is a draft; when the step ends
 * without calls the same element is the answer, with the same text. A draft that turns out to be commentary moves to
 * the widget.
 */
const TurnText = memo(function TurnText({ step }: { readonly step: Step }): ReactNode {
  if (!showsText(step)) return null
  const role = isAnswerStep(step) ? 'answer' : 'draft'
  return (
    <div className={`hf-text hf-${role}`} data-role={role} data-step={step.index}>
      <Markdown text={stepTextOf(step)} isStreaming={step.status === 'open'} />
    </div>
  )
})

const showsText = (step: Step): boolean =>
  isAnswerStep(step) || (step.status === 'open' && stepTextOf(step).trim() !== '')

/** A message that a person sent while the turn ran, where it joined (IN3). */
const TurnSteering = memo(function TurnSteering({ step }: { readonly step: Step }): ReactNode {
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

type Source = Extract<ItemPart, { readonly type: 'source-url' | 'source-document' }>

/** The files and sources of a turn, each once. */
const TurnItems = memo(function TurnItems({ steps }: Pick<Turn, 'steps'>): ReactNode {
  const strings = useStrings()
  const parts = steps.flatMap((step) => step.parts)
  const files = parts.flatMap((part) => (part.type === 'file' ? [part] : []))
  const sources = new Map(
    parts.flatMap((part): readonly (readonly [string, Source])[] =>
      part.type === 'source-url' || part.type === 'source-document' ? [[part.sourceId, part]] : [],
    ),
  )
  return (
    <>
      {files.map((file, index) => (
        <FileView key={index} url={file.url} mediaType={file.mediaType} />
      ))}
      {sources.size > 0 && (
        <nav className="hf-sources" aria-label={strings.sources}>
          <ol>
            {[...sources].map(([id, source]) => (
              <li key={id}>
                <SourceLink source={source} />
              </li>
            ))}
          </ol>
        </nav>
      )}
    </>
  )
})

function SourceLink({ source }: { readonly source: Source }): ReactNode {
  if (source.type === 'source-document') return <bdi>{source.title}</bdi>
  const href = safeHref(source.url)
  const label = <bdi>{source.title ?? source.url}</bdi>
  if (href === undefined) return label
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {label}
    </a>
  )
}
