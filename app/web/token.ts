const key = 'holdfast:token'

/** Kept as long as the tab is open, and sent to our own server only. */
export function tokenHeaders(): Readonly<Record<string, string>> {
  const token = sessionStorage.getItem(key)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

export const writeToken = (token: string): void => sessionStorage.setItem(key, token)
