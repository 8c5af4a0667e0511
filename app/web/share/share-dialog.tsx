import './share.css'
import { createSharesClient, type ShareItem } from 'holdfast/client'
import { useAgent, useClients } from 'holdfast/react'
import { CopyButton, Icon } from 'holdfast/widgets'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { sharePath } from '../place.ts'

/** Links to this conversation as it is now: made, copied, listed and taken back. Nothing where the server shares nothing. */
export function ShareDialog({ threadId }: { readonly threadId: string }): ReactNode {
  const { sharing } = useAgent()
  const { api } = useClients()
  const shares = useMemo(() => createSharesClient({ ...api, threadId }), [api, threadId])
  const dialog = useRef<HTMLDialogElement>(null)
  const createButton = useRef<HTMLButtonElement>(null)
  const [links, setLinks] = useState<readonly ShareItem[] | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const run = (work: () => Promise<void>) => {
    if (isBusy) return
    setBusy(true)
    setError(null)
    work()
      .catch((thrown: unknown) =>
        setError(thrown instanceof Error ? thrown.message : String(thrown)),
      )
      .finally(() => setBusy(false))
  }
  const read = async () => setLinks(await shares.list())
  const open = () => {
    setLinks(null)
    dialog.current?.showModal()
    run(read)
  }
  const create = async () => {
    await shares.create()
    await read()
  }
  const revoke = async (id: string, button: Element) => {
    await shares.revoke(id)
    // The line goes, and the focus with it, unless the person has moved it on meanwhile.
    if (document.activeElement === button) createButton.current?.focus()
    await read()
  }
  if (!sharing) return null
  return (
    <>
      <button
        type="button"
        className="app-share-open"
        aria-label="Share this conversation"
        onClick={open}
      >
        <Icon name="share" />
        <span>Share</span>
      </button>
      <dialog ref={dialog} className="app-settings app-share" aria-labelledby="share-title">
        <header>
          <h2 id="share-title">Share this conversation</h2>
          <button type="button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="cross" />
          </button>
        </header>
        <p>
          Whoever has the link can read what is here now, without signing in. What is said, edited
          or rated later is not shown.
        </p>
        <button
          ref={createButton}
          type="button"
          className="hf-button hf-button-strong"
          aria-disabled={isBusy}
          onClick={() => run(create)}
        >
          <Icon name="plus" />
          Create a link
        </button>
        {error !== null && (
          <p className="app-error" role="alert">
            {error}
          </p>
        )}
        <section aria-label="Links" aria-busy={isBusy} aria-live="polite">
          {links !== null && links.length === 0 && <p>There is no link to this conversation.</p>}
          <ul className="app-tools app-links">
            {links?.map((link) => (
              <LinkLine
                key={link.id}
                link={link}
                isBusy={isBusy}
                onRevoke={(button) => run(() => revoke(link.id, button))}
              />
            ))}
          </ul>
        </section>
      </dialog>
    </>
  )
}

function LinkLine(props: {
  readonly link: ShareItem
  readonly isBusy: boolean
  readonly onRevoke: (button: Element) => void
}): ReactNode {
  const { link, isBusy, onRevoke } = props
  const address = new URL(sharePath(link.id), location.href).href
  const made = new Date(link.createdAt).toLocaleString('en', {
    dateStyle: 'medium',
    timeStyle: 'short',
  })
  return (
    <li>
      <a href={address} target="_blank" rel="noopener noreferrer" dir="ltr">
        {address}
      </a>
      <small>As it was on {made}</small>
      <CopyButton text={() => address} label="Copy link" />
      <button
        type="button"
        className="hf-quiet"
        aria-label={`Revoke the link of ${made}`}
        aria-disabled={isBusy}
        onClick={({ currentTarget }) => onRevoke(currentTarget)}
      >
        <Icon name="trash" />
        Revoke
      </button>
    </li>
  )
}
