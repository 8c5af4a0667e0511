import type { ReactNode } from 'react'
import { usePersistentUiState } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'

const mostCharacters = 1_500
const mostLines = 20

/** Whether a text is too long to stand between two answers as a whole: whoever wrote it knows it. */
export const isLongText = (text: string): boolean =>
  text.length > mostCharacters || text.split('\n', mostLines + 1).length > mostLines

interface UserTextProps {
  /** Of the message, under which it is kept whether it was opened. */
  readonly id: string
  readonly text: string
}

/** What a person wrote; of a long text the beginning, until somebody wants all of it. */
export function UserText({ id, text }: UserTextProps): ReactNode {
  const strings = useStrings()
  const [isOpen, setOpen] = usePersistentUiState(`text ${id}`, false)
  const isLong = isLongText(text)
  return (
    <>
      <div className="hf-user-text" dir="auto" data-folded={(isLong && !isOpen) || undefined}>
        {text}
      </div>
      {isLong && (
        <button
          type="button"
          className="hf-quiet hf-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? strings.showLess : strings.showAll}
        </button>
      )}
    </>
  )
}
