import { type ReactNode, useEffect, useState } from 'react'
import { Icon } from './icon.tsx'
import { useTexts } from './texts-context.tsx'

export interface CopyButtonProps {
  readonly text: () => string
  readonly label: string
}

export function CopyButton({ text, label }: CopyButtonProps): ReactNode {
  const texts = useTexts()
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
      <span aria-live="polite">{copied ? texts.copied : label}</span>
    </button>
  )
}
