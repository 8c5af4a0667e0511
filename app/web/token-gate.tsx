import { ApiError, createApi } from 'holdfast/client'
import { type ReactNode, useEffect, useState } from 'react'
import { tokenHeaders, writeToken } from './token.ts'

type Access = 'asking' | 'open' | 'closed'

/** Where the server wants a token, asks for it before anything else. */
export function TokenGate({ children }: { readonly children: ReactNode }): ReactNode {
  const [access, setAccess] = useState<Access>('asking')
  const [token, setToken] = useState('')
  const ask = () => {
    createApi({ headers: tokenHeaders })
      .get('/api/threads?limit=1')
      .then(() => setAccess('open'))
      // A server that cannot be reached is shown by the page itself, and tried again there.
      .catch((error: unknown) =>
        setAccess(error instanceof ApiError && error.status === 401 ? 'closed' : 'open'),
      )
  }
  useEffect(ask, [])
  if (access !== 'closed') return children
  return (
    <main className="app-token">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          writeToken(token.trim())
          ask()
        }}
      >
        <h1>This server wants a token</h1>
        <label className="hf-field">
          <span>The value of HOLDFAST_TOKEN</span>
          <input
            type="password"
            autoComplete="current-password"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <button type="submit" className="hf-button hf-button-strong">
          Go on
        </button>
      </form>
    </main>
  )
}
