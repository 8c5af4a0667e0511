import type { Leave } from '../../core/fair-gate.ts'
import { parseThreadId } from '../../core/ids.ts'
import { importThreads } from '../../transfer/import-threads.ts'
import type { Store } from '../../store/store.ts'
import { openScratch } from '../../transfer/open-scratch.ts'
import { readImport } from '../../transfer/read-import.ts'
import { oneOf, parameter, type ServerContext } from '../context.ts'
import { badRequest } from '../http-error.ts'
import { toJsonResponse } from '../json-response.ts'
import { readText } from '../read-json.ts'
import type { Route } from '../router.ts'

const formats = ['auto', 'ui', 'vercel', 'tools-used', 'commentary', 'entities'] as const
const types = /^application\/(json|x-ndjson|jsonl)\s*(;|$)/i

/** Imports old threads; the caller becomes their owner. */
export function importRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, limits, inFlight, jobs, largeImports } = context
  return [
    {
      method: 'POST',
      path: '/api/import',
      async handle({ request, url, ownerId }) {
        const format = oneOf(url, 'format', formats) ?? 'auto'
        const isDry = ['1', 'true'].includes(
          oneOf(url, 'dryRun', ['1', 'true', '0', 'false']) ?? '',
        )
        const thread = parameter(url, 'thread')
        const threadId = thread === undefined ? undefined : parseThreadId(thread)
        inFlight.admit(ownerId)
        // Before the body is read, because all of it is held in memory.
        const leave = jobs.acquire(ownerId)
        let scratch: Store | undefined
        let leaveLarge: Leave | undefined
        try {
          // The whole body is read before anything is stored: one that is too large or cut off changes nothing (HT3).
          const text = await readText(request, { maxBytes: limits.importBytes, types })
          if (text === null) throw badRequest('There is nothing to import.')
          const chars = text.reduce((sum, piece) => sum + piece.length, 0)
          if (chars > largeChars) leaveLarge = await largeImports(ownerId)
          const { store, clock } = holdfast
          scratch = isDry ? await openScratch() : undefined
          const source = readImport(piecesOf(text), { messageChars: limits.importMessageChars })
          const report = await importThreads(store, source, {
            ...{ ownerId, format, now: clock.now },
            ...(threadId === undefined ? {} : { threadId }),
            ...(scratch === undefined ? {} : { dryRun: { scratch } }),
          })
          if (!isDry) holdfast.prepareSearch(ownerId)
          return toJsonResponse(context, ownerId, report)
        } finally {
          leave()
          leaveLarge?.()
          await scratch?.close()
        }
      },
    },
  ]
}

/** A larger one waits for its turn: while it is read and stored it needs three times its size, beside the body. */
const largeChars = 4_194_304

/** Each piece once: what has been read need not be held. */
async function* piecesOf(text: string[]): AsyncGenerator<string> {
  for (const [nth, piece] of text.entries()) {
    text[nth] = ''
    yield piece
  }
}
