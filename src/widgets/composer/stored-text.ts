/** Small texts that survive a reload. A browser may refuse its storage; then they last as long as the page. */
export function readStored(key: string): string {
  try {
    return globalThis.localStorage?.getItem(key) ?? ''
  } catch {
    return ''
  }
}

export function writeStored(key: string, text: string): void {
  try {
    if (text === '') globalThis.localStorage?.removeItem(key)
    else globalThis.localStorage?.setItem(key, text)
  } catch {
    // Refused, or full: nothing that is shown depends on it.
  }
}
