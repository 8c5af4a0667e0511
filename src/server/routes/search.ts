import { withDefined } from '../../core/with-defined.ts'
import { defaultLimit, parseLimit } from '../../protocol/page-query.ts'
import { toIsoDate } from '../../views/iso-date.ts'
import { parameter, type ServerContext } from '../context.ts'
import { badRequest } from '../http-error.ts'
import { toJsonResponse } from '../json-response.ts'
import type { Route } from '../router.ts'

/** Searches the titles and texts of the caller's threads. */
export function searchRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, inFlight, reads } = context
  return [
    {
      method: 'GET',
      path: '/api/search',
      async handle({ url, ownerId }) {
        const q = parameter(url, 'q')
        if (q === undefined) throw badRequest('"q" is required: the words to search for.')
        const limit = parseLimit(parameter(url, 'limit') ?? defaultLimit)
        const request = withDefined({ ownerId, q, limit }, { cursor: parameter(url, 'cursor') })
        inFlight.admit(ownerId)
        const page = await reads.gateOf(ownerId)(() => holdfast.search(request))
        const results = page.results.map(({ at, ...found }) => ({ ...found, at: toIsoDate(at) }))
        return toJsonResponse(context, ownerId, { ...page, results })
      },
    },
  ]
}
