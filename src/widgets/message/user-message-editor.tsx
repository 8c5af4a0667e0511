import type { ReactNode } from 'react'
import type { UserPart } from '../../core/message.ts'
import { userTextOf } from '../../views/user-content.ts'
import { useCallActions } from '../call-actions.ts'
import { MessageEditor } from '../message-editor.tsx'
import { usePersistentUiState } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { FileView } from './file-view.tsx'
import { readEffects } from './lasting-effects.ts'

interface UserMessageEditorProps {
  readonly id: string
  readonly parts: readonly UserPart[]
  readonly onClose: () => void
  /** Called with the tools whose effects remain although their calls are no longer visible (VR3). */
  readonly onEffects: (names: readonly string[]) => void
}

/** Saving sends a new version of the message, with its files; the old one stays, with what followed it (VR1). */
export function UserMessageEditor(props: UserMessageEditorProps): ReactNode {
  const { id, parts, onClose, onEffects } = props
  const strings = useStrings()
  const { client } = useCurrentThread()
  const actions = useCallActions()
  const [edited, setEdited] = usePersistentUiState(`edited ${id}`, userTextOf({ parts }))
  const files = parts.filter((part) => part.type === 'file')
  const isEmpty = edited.trim() === ''
  const save = async () => {
    const effects = await readEffects(client, actions, id)
    const text = isEmpty ? [] : [{ type: 'text', text: edited } as const]
    await client.send([...files, ...text], { replaces: id })
    onEffects(effects)
  }
  return (
    <MessageEditor
      label={strings.edit}
      saveLabel={strings.save}
      rows={3}
      text={edited}
      onChange={setEdited}
      canSave={!isEmpty || files.length > 0}
      save={save}
      onClose={onClose}
    >
      {files.length > 0 && (
        <div className="hf-editor-files">
          {files.map((file, index) => (
            <FileView key={index} {...file} />
          ))}
        </div>
      )}
    </MessageEditor>
  )
}
