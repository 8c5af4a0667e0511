import type { ReactNode } from 'react'
import { CopyButton } from '../copy-button.tsx'
import { useStrings } from '../strings-context.tsx'

/** The props of `<CodeBlock>`. */
export interface CodeBlockProps {
  /** The code that is shown and copied. */
  readonly code: string
  /** Shown above the code. Empty: none. */
  readonly language: string
  /**
   * The code with syntax highlighting, if the host application provides it.
   * @default the code as it is
   */
  readonly children?: ReactNode
}

/** Code with its language and a button that copies it. */
export function CodeBlock({ code, language, children }: CodeBlockProps): ReactNode {
  const strings = useStrings()
  const name = /^[\w+#.-]{1,30}/.exec(language)?.[0] ?? ''
  return (
    <figure className="hf-code">
      <figcaption>
        <span>{name}</span>
        <CopyButton text={() => code} label={strings.copy} />
      </figcaption>
      {/* Focusable, so that a long line can be scrolled by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by the keyboard */}
      <pre dir="ltr" tabIndex={0}>
        <code>{children ?? code}</code>
      </pre>
    </figure>
  )
}
