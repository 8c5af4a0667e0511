import { type ReactNode, useRef } from 'react'
import type { Message } from '../../core/message.ts'
import { versionsOf } from '../../core/versions.ts'
import { ActionError } from '../action-error.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { titleOf } from '../tool-widget/turn-summary.ts'
import { useCurrentThread } from '../thread-context.ts'
import { useAction } from '../use-action.ts'

interface VersionSwitchProps {
  readonly message: Message
  /** Called with the tools whose effects remain although their calls are no longer visible (VR3). */
  readonly onEffects: (names: readonly string[]) => void
}

/**
 * Shows which version of a message is visible, with buttons for the others (VR1). A row keeps its element when another
 * version is shown in it, so the pressed button keeps the focus.
 */
export function VersionSwitch({ message, onEffects }: VersionSwitchProps): ReactNode {
  const strings = useStrings()
  const { client } = useCurrentThread()
  const { isBusy, error, run } = useAction()
  const group = useRef<HTMLFieldSetElement>(null)
  const versions = versionsOf(message)
  if (versions === undefined) return null
  const { ids, shown } = versions
  const index = ids.indexOf(shown)
  const show = (id: string | undefined) => {
    // Not disabled: a disabled button would lose the focus at the first and the last version.
    if (id === undefined) return
    run(async () => {
      const { effects } = await client.show(id)
      onEffects([...new Set(effects.map(({ name }) => name))])
      requestAnimationFrame(() => group.current?.scrollIntoView({ block: 'nearest' }))
    })
  }
  const button = (label: string, id: string | undefined, direction: 'back' | 'on') => (
    <button
      type="button"
      className="hf-quiet"
      data-direction={direction}
      aria-label={label}
      title={label}
      aria-disabled={id === undefined || isBusy}
      onClick={() => show(id)}
    >
      <Icon name="chevron" />
    </button>
  )
  return (
    <>
      <fieldset className="hf-versions" ref={group} aria-label={strings.versions}>
        {button(strings.previousVersion, ids[index - 1], 'back')}
        <span aria-live="polite">
          <span className="hf-visually-hidden">{strings.versionOf(index + 1, ids.length)}</span>
          <bdi aria-hidden="true">
            {index + 1} / {ids.length}
          </bdi>
        </span>
        {button(strings.nextVersion, ids[index + 1], 'on')}
      </fieldset>
      <ActionError error={error} />
    </>
  )
}

/** Tells in plain words what going back does not undo (VR3). */
export function EffectsNote({ names }: { readonly names: readonly string[] }): ReactNode {
  const strings = useStrings()
  if (names.length === 0) return null
  return (
    <output className="hf-effects">
      <Icon name="warning" />
      <span dir="auto">{strings.staysDone(names.map((name) => titleOf({ name })).join(', '))}</span>
    </output>
  )
}
