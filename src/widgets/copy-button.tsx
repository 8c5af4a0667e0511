import { type ReactNode, useEffect, useState } from 'react'
import { Icon } from './icon.tsx'
import { useStrings } from './strings-context.tsx'

/** The props of `<CopyButton>`. */
export interface CopyButtonProps {
  /** The text to copy; called on click, so it may be expensive. */
  readonly text: () => string
  /** The label of the button. */
  readonly label: string
}

/** Copies a text, and shows for a moment that it did. Where a browser refuses its clipboard nothing happens. */
export function CopyButton({ text, label }: CopyButtonProps): ReactNode {
  const strings = useStrings()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    await navigator.clipboard.writeText(text())
    setCopied(true)
  }
  return (
    <button
      type="button"
      className="hf-quiet"
      title={label}
      onClick={() => void copy().catch(() => undefined)}
    >
      <Icon name={copied ? 'check' : 'copy'} />
      <span className="hf-label" aria-live="polite">
        {copied ? strings.copied : label}
      </span>
    </button>
  )
}
