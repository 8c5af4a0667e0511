import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'

type AddFiles = (files: Iterable<File>) => void

/** Opens the browser's file picker, for several files at once. */
export function AttachButton({ add }: { readonly add: AddFiles }): ReactNode {
  const strings = useStrings()
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={field}
        type="file"
        multiple
        hidden
        data-attach=""
        onChange={({ currentTarget }) => {
          add([...(currentTarget.files ?? [])])
          // Reset, so that the same file can be chosen again after it was removed.
          currentTarget.value = ''
        }}
      />
      <button
        type="button"
        className="hf-attach"
        aria-label={strings.attach}
        title={strings.attach}
        onClick={() => field.current?.click()}
      >
        <Icon name="attach" />
      </button>
    </>
  )
}

interface FileDropProps {
  readonly canDrop: boolean
  readonly add: AddFiles
  readonly className: string
  readonly children: ReactNode
}

/** A drop zone for files, which shows a hint while files are dragged over it. */
export function FileDrop({ canDrop, add, className, children }: FileDropProps): ReactNode {
  const strings = useStrings()
  const [isOver, setOver] = useState(false)
  const holdsFiles = ({ dataTransfer }: DragEvent) =>
    canDrop && dataTransfer.types.includes('Files')
  return (
    <div
      className={className}
      data-drop={isOver ? strings.dropFiles : undefined}
      onDragOver={(event) => {
        if (!holdsFiles(event)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false)
        if (!holdsFiles(event)) return
        event.preventDefault()
        add(event.dataTransfer.files)
      }}
    >
      {children}
    </div>
  )
}
