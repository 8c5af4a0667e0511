import { checkOptions, type OptionTable, text } from '../core/check-options.ts'
import { type ApiOptions, apiRules, createApi } from './api.ts'

/** A link by which anybody may read a thread as it was when it was made. */
export interface ShareItem {
  readonly id: string
  /** Where its messages are read; a page that shows them has an address of the host's own. */
  readonly url: string
  /** Where the thread stood: nothing that came after it is shown. */
  readonly seq: number
  /** When it was made, as an ISO date. */
  readonly createdAt: string
}

/** The links of one thread, and what its owner can do with them. Each rejects with an `ApiError` when it fails. */
export interface SharesClient {
  /** Newest first. */
  readonly list: () => Promise<readonly ShareItem[]>
  /** Shares what is shown now; what comes later is not seen through the link. */
  readonly create: () => Promise<ShareItem>
  /** Takes a link back: it shows nothing from then on. */
  readonly revoke: (id: string) => Promise<void>
}

/** The options of `createSharesClient`. */
export interface SharesClientOptions extends ApiOptions {
  /** The thread that is shared. */
  readonly threadId: string
}

export const sharesClientRules: OptionTable<SharesClientOptions> = { ...apiRules, threadId: text() }

/** The links of a thread. */
export function createSharesClient(options: SharesClientOptions): SharesClient {
  checkOptions('createSharesClient', options, sharesClientRules)
  const { threadId, ...rest } = options
  const api = createApi(rest)
  const base = `/api/threads/${encodeURIComponent(threadId)}/shares`
  return {
    list: async () => (await api.get<{ readonly results: readonly ShareItem[] }>(base)).results,
    create: () => api.post<ShareItem>(base, {}),
    revoke: (id) => api.delete(`${base}/${encodeURIComponent(id)}`),
  }
}
