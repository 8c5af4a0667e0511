import { importThreads } from '../../transfer/import-threads.ts'
import { readImport } from '../../transfer/read-import.ts'
import { oneOf, type ServerContext } from '../context.ts'
import { badRequest } from '../http-error.ts'
import { readText } from '../read-json.ts'
import type { Route } from '../router.ts'

const formats = ['auto', 'ui', 'vercel', 'tools-used', 'commentary', 'entities'] as const
const types = /^application\/(json|x-ndjson|jsonl)\s*(;|$)/i

/** Old threads, for their new owner: whoever sends them. */
export function importRoutes({ holdfast, limits }: ServerContext): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/import',
      async handle({ request, url, ownerId }) {
        const format = oneOf(url, 'format', formats) ?? 'auto'
        // Whole before the first of it is stored: what is too large or cut off changes nothing (HT3).
        const text = await readText(request, limits.importBytes, types)
        if (text === null) throw badRequest('There is nothing to import.')
        const { store, clock } = holdfast
        const report = await importThreads(store, readImport(piecesOf(text)), {
          ownerId,
          format,
          now: clock.now,
        })
        return Response.json(report)
      },
    },
  ]
}

async function* piecesOf(text: string): AsyncGenerator<string> {
  yield text
}
