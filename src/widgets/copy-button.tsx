import { type ReactNode, useEffect, useState } from 'react'
import { Icon } from './icon.tsx'
import { useStrings } from './strings-context.tsx'

export interface CopyButtonProps {
  readonly text: () => string
  readonly label: string
}

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
    <button type="button" className="hf-quiet" onClick={() => void copy().catch(() => undefined)}>
      <Icon name={copied ? 'check' : 'copy'} />
      <span aria-live="polite">{copied ? strings.copied : label}</span>
    </button>
  )
}
