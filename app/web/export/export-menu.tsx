import { useClients } from 'holdfast/react'
import { Icon } from 'holdfast/widgets'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { type ExportFormat, exportFormats, exportThread } from './export-thread.ts'

const names: Readonly<Record<ExportFormat, string>> = {
  markdown: 'Markdown',
  ui: 'JSON: AI SDK 5–7',
  vercel: 'JSON: AI SDK 4',
  entities: 'JSON: rows',
  chat: 'JSON: chat',
}

export function ExportMenu(props: {
  readonly threadId: string
  readonly title: string
}): ReactNode {
  const { api } = useClients()
  const menu = useRef<HTMLDetailsElement>(null)
  const [error, setError] = useState<string | null>(null)
  /** What is in it goes out of sight, and the focus with it. */
  const close = () => {
    menu.current?.removeAttribute('open')
    menu.current?.querySelector('summary')?.focus()
  }
  useEffect(() => {
    // It covers what is below it, so whoever turns to something else is done with it.
    const leave = ({ target }: Event) => {
      if (target instanceof Node && menu.current?.contains(target) === false) {
        menu.current.removeAttribute('open')
      }
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('focusin', leave)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('focusin', leave)
    }
  }, [])
  const choose = (format: ExportFormat) => {
    setError(null)
    exportThread(api, { ...props, format })
      .then(({ name, text, type }) => {
        download(name, text, type)
        close()
      })
      .catch((thrown: unknown) =>
        setError(thrown instanceof Error ? thrown.message : String(thrown)),
      )
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
  }
  return (
    // Escape closes the menu from anywhere in it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <details className="app-export" ref={menu} onKeyDown={onKeyDown}>
      <summary aria-label="Export this conversation">
        <Icon name="download" />
        <span>Export</span>
      </summary>
      <ul>
        {exportFormats.map((format) => (
          <li key={format}>
            <button type="button" onClick={() => choose(format)}>
              {names[format]}
            </button>
          </li>
        ))}
        {error !== null && <li role="alert">{error}</li>}
      </ul>
    </details>
  )
}

function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
