import { useContext, useEffect, useState } from 'react'
import { ClientsContext } from '../../react/holdfast-provider.tsx'
import { toFileRequest } from './use-file-address.ts'

/**
 * The bytes of a server file, from its headers: a message contains the file's address, not its size. Undefined until
 * they are known, and for a file elsewhere, which is never requested just to show its size.
 */
export function useFileSize(url: string): number | undefined {
  const api = useContext(ClientsContext)?.api
  const [size, setSize] = useState<{ readonly url: string; readonly bytes: number }>()
  useEffect(() => {
    const request = api === undefined ? undefined : toFileRequest(api, url)
    if (api === undefined || request === undefined) return undefined
    const stop = new AbortController()
    const { address, headers } = request
    const load = async () => {
      const ask = api.fetch ?? fetch
      const response = await ask(address, { method: 'HEAD', headers, signal: stop.signal })
      const bytes = Number(response.headers.get('content-length') ?? Number.NaN)
      if (response.ok && Number.isFinite(bytes) && !stop.signal.aborted) setSize({ url, bytes })
    }
    // Without its size a file is shown by its name and type.
    load().catch(() => undefined)
    return () => stop.abort()
  }, [api, url])
  return size?.url === url ? size.bytes : undefined
}
