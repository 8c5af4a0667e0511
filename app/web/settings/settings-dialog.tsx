import './settings.css'
import { Icon } from 'holdfast/widgets'
import { type ReactNode, useRef, useState } from 'react'
import { ThemeSelect } from '../theme-select.tsx'
import { KeyList } from './key-list.tsx'
import { type ReadInfo, type ToolInfo, useServerInfo } from './use-server-info.ts'

/** How it looks, which is up to the reader; and how the server is set up, which is up to the server. */
export function SettingsDialog(): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  const read = useServerInfo(isOpen)
  const open = () => {
    setOpen(true)
    dialog.current?.showModal()
  }
  return (
    <>
      <button type="button" className="app-settings-open" onClick={open}>
        <Icon name="settings" />
        Settings
      </button>
      <dialog
        ref={dialog}
        className="app-settings"
        aria-labelledby="settings-title"
        onClose={() => setOpen(false)}
      >
        <header>
          <h2 id="settings-title">Settings</h2>
          <button type="button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="cross" />
          </button>
        </header>
        <ThemeSelect />
        <KeyList />
        {isOpen && <ServerSettings read={read} />}
      </dialog>
    </>
  )
}

function ServerSettings({ read }: { readonly read: ReadInfo }): ReactNode {
  if (read.status === 'loading') return <p aria-busy="true">Asking the server…</p>
  if (read.status === 'failed') {
    return (
      <p className="app-error" role="alert">
        {read.error}
      </p>
    )
  }
  const { store, version, tools } = read.info
  return (
    <>
      <h3>Tools</h3>
      <p>The model may use these. Which ones, and which ask first, is set on the server.</p>
      <ul className="app-tools">
        {tools.map((tool) => (
          <ToolLine key={tool.name} tool={tool} />
        ))}
      </ul>
      <h3>Server</h3>
      <p>
        Holdfast {version}, on {store}. The model is set on the server too, by{' '}
        <code>HOLDFAST_MODEL</code>.
      </p>
    </>
  )
}

function ToolLine({ tool }: { readonly tool: ToolInfo }): ReactNode {
  const { name, description, approval, repeatable } = tool
  return (
    <li>
      <code>
        <bdi>{name}</bdi>
      </code>
      {approval !== 'never' && (
        <span className="app-tool-asks">
          <Icon name="hand" />
          {approval === 'always' ? 'Asks first' : 'May ask first'}
        </span>
      )}
      {!repeatable && <span>Never run twice</span>}
      <small dir="auto">{description}</small>
    </li>
  )
}
