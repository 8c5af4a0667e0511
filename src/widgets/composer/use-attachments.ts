import { useEffect, useRef, useState } from 'react'
import type { UploadedFile, UploadOptions } from '../../client/upload-file.ts'
import { ApiError } from '../../protocol/api-error.ts'
import { readStored, writeStored } from './stored-text.ts'

/** A file in the composer, before it is sent with a message. */
export interface Attachment {
  readonly key: string
  readonly name: string
  readonly mediaType: string
  readonly bytes: number
  readonly state:
    | { readonly kind: 'uploading'; readonly share: number }
    | { readonly kind: 'ready'; readonly file: UploadedFile }
    /** `isRefused`: the server does not accept this file, so another attempt is of no use. */
    | { readonly kind: 'failed'; readonly error: string; readonly isRefused: boolean }
}

/** Uploads a file to the server. */
export type Upload = (file: File, options: UploadOptions) => Promise<UploadedFile>

interface UsedAttachments {
  readonly attachments: readonly Attachment[]
  readonly add: (files: Iterable<File>) => void
  /** Also cancels an upload in flight. */
  readonly remove: (key: string) => void
  readonly retry: (key: string) => void
  /** Removes and returns the files that are ready to be sent. */
  readonly removeReady: () => readonly UploadedFile[]
}

interface Held {
  readonly threadId: string
  readonly list: readonly Attachment[]
}

/**
 * The files in a composer. Uploaded ones survive a reload, separately for each thread; an upload in flight ends with
 * its page.
 */
export function useAttachments(threadId: string, upload: Upload | undefined): UsedAttachments {
  const [held, setHeld] = useState<Held>(() => ({ threadId, list: readPersisted(threadId) }))
  const sources = useRef(new Map<string, { readonly file: File; readonly stop: AbortController }>())
  const list = held.threadId === threadId ? held.list : readPersisted(threadId)

  /** An upload that ends after the composer has switched threads still belongs to its own thread. */
  const change = (next: (list: readonly Attachment[]) => readonly Attachment[], isHere = false) =>
    setHeld((before) => {
      const isOwn = before.threadId === threadId
      const changed = next(isOwn ? before.list : readPersisted(threadId))
      writePersisted(threadId, changed)
      return isOwn || isHere ? { threadId, list: changed } : before
    })
  useEffect(() => {
    const { current } = sources
    return () => {
      for (const { stop } of current.values()) stop.abort()
    }
  }, [])

  const put = (key: string, state: Attachment['state']) =>
    change((all) => all.map((each) => (each.key === key ? { ...each, state } : each)))

  const send = (key: string, file: File) => {
    const stop = new AbortController()
    sources.current.set(key, { file, stop })
    const onProgress = (share: number) => {
      if (!stop.signal.aborted) put(key, { kind: 'uploading', share })
    }
    upload?.(file, { onProgress, signal: stop.signal }).then(
      (done) => {
        sources.current.delete(key)
        put(key, { kind: 'ready', file: done })
      },
      (error: unknown) => {
        if (stop.signal.aborted) return
        put(key, {
          kind: 'failed',
          error: error instanceof Error ? error.message : String(error),
          isRefused: error instanceof ApiError && refusals.has(error.code),
        })
      },
    )
  }

  return {
    attachments: list,
    add(files) {
      const added = [...files].map((file) => ({ key: crypto.randomUUID(), file }))
      change(
        (all) => [
          ...all,
          ...added.map(({ key, file }): Attachment => ({
            key,
            name: file.name,
            mediaType: file.type,
            bytes: file.size,
            state: { kind: 'uploading', share: 0 },
          })),
        ],
        true,
      )
      for (const { key, file } of added) send(key, file)
    },
    remove(key) {
      sources.current.get(key)?.stop.abort()
      sources.current.delete(key)
      change((all) => all.filter((each) => each.key !== key), true)
    },
    retry(key) {
      const file = sources.current.get(key)?.file
      if (file === undefined) return
      put(key, { kind: 'uploading', share: 0 })
      send(key, file)
    },
    removeReady() {
      const ready = list.flatMap(({ state }) => (state.kind === 'ready' ? [state.file] : []))
      change((all) => all.filter(({ state }) => state.kind !== 'ready'), true)
      return ready
    },
  }
}

/** Not `files-full`: something may be deleted meanwhile. */
const refusals: ReadonlySet<string> = new Set(['file-too-large', 'file-type'])

const keyOf = (threadId: string): string => `holdfast:files:${threadId}`

function readPersisted(threadId: string): readonly Attachment[] {
  try {
    return JSON.parse(readStored(keyOf(threadId)) || '[]') as readonly Attachment[]
  } catch {
    // Other code wrote to this key.
    return []
  }
}

function writePersisted(threadId: string, list: readonly Attachment[]): void {
  const ready = list.filter(({ state }) => state.kind === 'ready')
  writeStored(keyOf(threadId), ready.length === 0 ? '' : JSON.stringify(ready))
}
