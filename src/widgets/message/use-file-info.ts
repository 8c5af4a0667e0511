import { useContext, useEffect, useState } from 'react'
import { ClientsContext } from '../../react/holdfast-provider.tsx'
import { toFileRequest } from './use-file-address.ts'

/** What the headers of a server file say about it. */
export interface FileInfo {
  readonly bytes: number
  readonly mediaType: string
}

/**
 * The size and type of a server file: a message contains the file's address, not its size, and a tool's result not even
 * its type. Undefined until they are known, and for a file elsewhere, which is never requested just to describe it; null
 * if the server has no such file.
 */
export function useFileInfo(url: string): FileInfo | null | undefined {
  const api = useContext(ClientsContext)?.api
  const [info, setInfo] = useState<{ readonly url: string; readonly found: FileInfo | null }>()
  useEffect(() => {
    const request = api === undefined ? undefined : toFileRequest(api, url)
    if (api === undefined || request === undefined) return undefined
    const stop = new AbortController()
    const { address, headers } = request
    const load = async () => {
      const fetchFile = api.fetch ?? fetch
      const response = await fetchFile(address, { method: 'HEAD', headers, signal: stop.signal })
      if (stop.signal.aborted) return
      const bytes = Number(response.headers.get('content-length') ?? Number.NaN)
      const mediaType = response.headers.get('content-type') ?? ''
      if (response.status === 404) setInfo({ url, found: null })
      else if (response.ok && Number.isFinite(bytes)) setInfo({ url, found: { bytes, mediaType } })
    }
    // Without its size a file is shown by its name and type.
    load().catch(() => undefined)
    return () => stop.abort()
  }, [api, url])
  return info?.url === url ? info.found : undefined
}
