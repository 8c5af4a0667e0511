import { useSyncExternalStore } from 'react'

/** Where the reader is: a new chat, or a thread, there perhaps at one message or call. */
export type Place =
  | { readonly kind: 'new'; readonly threadId: string }
  | { readonly kind: 'thread'; readonly threadId: string; readonly target: string | undefined }

const newKey = 'holdfast:new-thread'
const listeners = new Set<() => void>()
let current: Place | undefined

/** The id of a chat that has not begun is kept, so that a reload finds what was written in it. */
function newThreadId(): string {
  const kept = sessionStorage.getItem(newKey)
  if (kept !== null) return kept
  const id = crypto.randomUUID()
  sessionStorage.setItem(newKey, id)
  return id
}

function readPlace(): Place {
  const [, id] = /^\/t\/([^/]+)$/.exec(location.pathname) ?? []
  if (id === undefined) return { kind: 'new', threadId: newThreadId() }
  const target = decodeURIComponent(location.hash.slice(1))
  return {
    kind: 'thread',
    threadId: decodeURIComponent(id),
    target: target === '' ? undefined : target,
  }
}

function changed(): void {
  current = readPlace()
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  if (listeners.size === 1) {
    addEventListener('popstate', changed)
    addEventListener('hashchange', changed)
  }
  return () => listeners.delete(listener)
}

export const usePlace = (): Place =>
  useSyncExternalStore(subscribe, () => (current ??= readPlace()))

/** The link that the address is of; undefined for every other address. */
export const shareInAddress = (): string | undefined => {
  const [, id] = /^\/s\/([\w-]+)$/.exec(location.pathname) ?? []
  return id
}

export const sharePath = (shareId: string): string => `/s/${encodeURIComponent(shareId)}`

export const threadPath = (threadId: string): string => `/t/${encodeURIComponent(threadId)}`

export function goTo(path: string): void {
  history.pushState(null, '', path)
  changed()
}

/** A new chat has its first message: its address is now its own, and the next new chat is another. */
export function claimNewThread(threadId: string): void {
  sessionStorage.removeItem(newKey)
  history.replaceState(null, '', threadPath(threadId))
  changed()
}
