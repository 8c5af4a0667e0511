import { checkOptions, type OptionTable, text } from '../core/check-options.ts'
import { type ApiOptions, apiRules, createApi } from './api.ts'

/** A link by which anybody may read a thread as it was when the link was created. */
export interface ShareItem {
  readonly id: string
  /** The address of its messages; a page that shows them has an address of the host application. */
  readonly url: string
  /** The thread's seq at that time: nothing after it is shown. */
  readonly seq: number
  /** When it was created, as an ISO date. */
  readonly createdAt: string
}

/** The links of one thread, for its owner. Each method rejects with an `ApiError` when it fails. */
export interface SharesClient {
  /** Newest first. */
  readonly list: () => Promise<readonly ShareItem[]>
  /** Shares what is visible now; later messages are not visible through the link. */
  readonly create: () => Promise<ShareItem>
  /** Revokes a link: it shows nothing from then on. */
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
