import './share.css'
import { useSharedThread } from 'holdfast/react'
import { SharedThread } from 'holdfast/widgets'
import { type ReactNode, useEffect } from 'react'

/** A conversation that somebody shared: to be read, by whoever has the link. */
export function SharedPage({ shareId }: { readonly shareId: string }): ReactNode {
  const { title, status, connection } = useSharedThread(shareId)
  const nameless = connection.status === 'refused' ? 'Not found' : 'Shared conversation'
  const shown = title === '' ? nameless : title
  useEffect(() => {
    document.title = shown
  }, [shown])
  return (
    <div className="app app-shared">
      <main id="main" className="app-main">
        <header className="app-header" aria-busy={status === 'loading'}>
          <h1 dir="auto" title={shown}>
            {shown}
          </h1>
          <a className="app-shared-home" href="/">
            Holdfast
          </a>
        </header>
        <SharedThread shareId={shareId} />
      </main>
    </div>
  )
}
