import { useContext, useEffect, useState } from 'react'
import { rootOf } from '../../client/api.ts'
import { fileIdOf } from '../../core/file.ts'
import { isSharedFile } from '../../core/share.ts'
import { ClientsContext } from '../../react/holdfast-provider.tsx'

/**
 * The address of a server file for a page. An `<img>` cannot send a token: then the file is fetched, and the result is
 * an object URL of this page. Undefined while it is being fetched; null if it cannot be.
 */
export function useFileAddress(url: string): string | null | undefined {
  const api = useContext(ClientsContext)?.api
  const [loaded, setLoaded] = useState<{ readonly url: string; readonly address: string | null }>()
  const isOwners = fileIdOf(url) !== undefined && !isSharedFile(url)
  const needsHeaders = isOwners && api?.headers !== undefined
  useEffect(() => {
    if (!needsHeaders || api === undefined) return undefined
    const stop = new AbortController()
    let address: string | undefined
    const load = async () => {
      const fetchFile = api.fetch ?? fetch
      const request = toFileRequest(api, url)
      if (request === undefined) return
      const response = await fetchFile(request.address, {
        headers: request.headers,
        signal: stop.signal,
      })
      if (!response.ok) throw new Error(`The server responded with ${response.status}.`)
      address = URL.createObjectURL(await response.blob())
      if (!stop.signal.aborted) setLoaded({ url, address })
    }
    // A file that cannot be loaded is shown by its name.
    load().catch(() => {
      if (!stop.signal.aborted) setLoaded({ url, address: null })
    })
    return () => {
      stop.abort()
      if (address !== undefined) URL.revokeObjectURL(address)
    }
  }, [api, needsHeaders, url])
  if (needsHeaders) return loaded?.url === url ? loaded.address : undefined
  return (api === undefined ? undefined : toFileRequest(api, url)?.address) ?? url
}

/** How a server file is requested; undefined for a file elsewhere. */
export function toFileRequest(api: Api, url: string): FileRequest | undefined {
  // A shared file needs no headers, and its address has the base path already.
  if (isSharedFile(url)) {
    return { address: `${rootOf({ baseUrl: api.baseUrl ?? '' })}${url}`, headers: {} }
  }
  if (fileIdOf(url) === undefined) return undefined
  return { address: toAddress(api, url), headers: api.headers?.() ?? {} }
}

interface FileRequest {
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
}

type Api = NonNullable<React.ContextType<typeof ClientsContext>>['api']

/** The address of a file that a tool or a model generated has no base path; that of an upload has it already. */
function toAddress(api: Api, url: string): string {
  const { baseUrl = '', basePath = '' } = api
  const root = url.startsWith('/api/') ? rootOf(api) : rootOf({ baseUrl })
  return basePath === '' ? `${rootOf({ baseUrl })}${url}` : `${root}${url}`
}
