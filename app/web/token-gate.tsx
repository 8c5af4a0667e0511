import { ApiError, createApi } from 'holdfast/client'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { tokenHeaders, writeToken } from './token.ts'

type Access = 'asking' | 'open' | 'closed' | 'wrong'

/** Where the server wants a token, asks for it before anything else. */
export function TokenGate({ children }: { readonly children: ReactNode }): ReactNode {
  const [access, setAccess] = useState<Access>('asking')
  const [token, setToken] = useState('')
  const checkAccess = (closed: 'closed' | 'wrong') => {
    createApi({ headers: tokenHeaders })
      .get('/api/threads?limit=1')
      .then(() => setAccess('open'))
      // A server that cannot be reached is shown by the page itself, and tried again there.
      .catch((error: unknown) =>
        setAccess(error instanceof ApiError && error.status === 401 ? closed : 'open'),
      )
  }
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => checkAccess('closed'), [])
  // There is nothing else to do here, and after a wrong token nothing else to mend.
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [access])
  // Nothing yet: a page that is taken away again a moment later would be worse than none.
  if (access === 'asking') return null
  if (access === 'open') return children
  return (
    <main className="app-token">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          writeToken(token.trim())
          checkAccess('wrong')
        }}
      >
        <h1>This server wants a token</h1>
        <label className="hf-field">
          <span>The value of HOLDFAST_TOKEN</span>
          <input
            ref={field}
            type="password"
            autoComplete="current-password"
            aria-invalid={access === 'wrong'}
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        {access === 'wrong' && (
          <p className="app-error" role="alert">
            The server does not take this token.
          </p>
        )}
        <button type="submit" className="hf-button hf-button-strong">
          Go on
        </button>
      </form>
    </main>
  )
}
