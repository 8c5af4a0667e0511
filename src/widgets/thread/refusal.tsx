import type { ReactNode } from 'react'
import type { Strings } from '../strings.ts'
import { useStrings } from '../strings-context.tsx'

/** Shown in place of the messages, or of the composer where there are messages: nothing can be added to them. */
export function Refusal({ code }: { readonly code: string }): ReactNode {
  const strings = useStrings()
  return (
    <p className="hf-refused" role="alert" data-code={code}>
      {textOf(code, strings)}
    </p>
  )
}

/** Chosen by the error code: a person who reads that a conversation does not exist will not try to sign in. */
function textOf(code: string, strings: Strings): string {
  switch (code) {
    case 'thread-not-found':
      return strings.refused
    case 'share-not-found':
      return strings.refusedShare
    case 'not-authenticated':
      return strings.refusedSignIn
    case 'forbidden':
    case 'foreign-origin':
    case 'foreign-host':
    case 'no-authentication':
      return strings.refusedForbidden
    default:
      return strings.refusedOther
  }
}
