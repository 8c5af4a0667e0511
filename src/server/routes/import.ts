import { parseThreadId } from '../../core/ids.ts'
import { importThreads } from '../../transfer/import-threads.ts'
import type { Store } from '../../store/store.ts'
import { openScratch } from '../../transfer/open-scratch.ts'
import { readImport } from '../../transfer/read-import.ts'
import { oneOf, parameter, type ServerContext } from '../context.ts'
import { badRequest } from '../http-error.ts'
import { readImportBody } from '../import-body.ts'
import { toJsonResponse } from '../json-response.ts'
import type { Route } from '../router.ts'
import { importFormats } from '../../import/old-shapes.ts'

/** Imports old threads; the caller becomes their owner. */
export function importRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, limits, inFlight, jobs, largeImports } = context
  return [
    {
      method: 'POST',
      path: '/api/import',
      async handle({ request, url, ownerId }) {
        const format = oneOf(url, 'format', importFormats) ?? 'auto'
        const isDry = ['1', 'true'].includes(
          oneOf(url, 'dryRun', ['1', 'true', '0', 'false']) ?? '',
        )
        const thread = parameter(url, 'thread')
        const threadId = thread === undefined ? undefined : parseThreadId(thread)
        inFlight.admit(ownerId)
        // Before the body is read, because all of it is held in memory.
        const leave = jobs.acquire(ownerId)
        const place = largeImports.open(ownerId, request.signal)
        let scratch: Store | undefined
        try {
          // The whole body is read before anything is stored: one that is too large or cut off changes nothing (HT3).
          const body = await readImportBody(request, limits.importBytes, place)
          if (body === null) throw badRequest('There is nothing to import.')
          const { store, clock } = holdfast
          scratch = isDry ? await openScratch() : undefined
          const source = readImport(body, { messageChars: limits.importMessageChars })
          const report = await importThreads(store, source, {
            ...{ ownerId, format, now: clock.now },
            ...(threadId === undefined ? {} : { threadId }),
            ...(scratch === undefined ? {} : { dryRun: { scratch } }),
          })
          if (!isDry) holdfast.prepareSearch(ownerId)
          return await toJsonResponse(context, ownerId, report)
        } finally {
          leave()
          place.leave()
          await scratch?.close()
        }
      },
    },
  ]
}
