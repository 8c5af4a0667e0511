import { useContext, useEffect, useState } from 'react'
import { rootOf } from '../../client/api.ts'
import { fileIdOf } from '../../core/file.ts'
import { isSharedFile } from '../../core/share.ts'
import { ClientsContext } from '../../react/holdfast-provider.tsx'

/**
 * Where a page finds a file of the server's. Requests that carry a token cannot be made by an `<img>`: then the file is
 * fetched, and is an address of this page's own. Undefined while it is, and if it cannot be had.
 */
export function useFileAddress(url: string): string | undefined {
  const api = useContext(ClientsContext)?.api
  const isOurs = fileIdOf(url) !== undefined
  const [loaded, setLoaded] = useState<{ readonly url: string; readonly address: string }>()
  const needsHeaders = isOurs && api?.headers !== undefined
  useEffect(() => {
    if (!needsHeaders || api === undefined) return undefined
    const stop = new AbortController()
    let address: string | undefined
    const load = async () => {
      const ask = api.fetch ?? fetch
      const headers = api.headers?.() ?? {}
      const response = await ask(toAddress(api, url), { headers, signal: stop.signal })
      if (!response.ok) return
      address = URL.createObjectURL(await response.blob())
      if (!stop.signal.aborted) setLoaded({ url, address })
    }
    // What cannot be had is shown by its name.
    load().catch(() => undefined)
    return () => {
      stop.abort()
      if (address !== undefined) URL.revokeObjectURL(address)
    }
  }, [api, needsHeaders, url])
  if (api === undefined) return url
  // Through a link nobody is asked who they are, and its address has the base path.
  if (isSharedFile(url)) return `${rootOf({ baseUrl: api.baseUrl ?? '' })}${url}`
  if (!isOurs) return url
  if (needsHeaders) return loaded?.url === url ? loaded.address : undefined
  return toAddress(api, url)
}

type Api = NonNullable<React.ContextType<typeof ClientsContext>>['api']

/** What a tool or a model made is named without a base path; what a person sent has it already. */
function toAddress(api: Api, url: string): string {
  const { baseUrl = '', basePath = '' } = api
  const root = url.startsWith('/api/') ? rootOf(api) : rootOf({ baseUrl })
  return basePath === '' ? `${rootOf({ baseUrl })}${url}` : `${root}${url}`
}
