import type { CallId, ThreadId } from '../core/ids.ts'
import type { StoredOutput } from './stored-output.ts'

/** An output that a read had left where it is, by its call. */
export type LargeOutputs = ReadonlyMap<CallId, Pick<StoredOutput, 'output' | 'modelOutput'>>

/** In portions: all results of a turn of 60 MB in one statement take longer than a database is given for one (OP7). */
export async function readOutputs(
  threadId: ThreadId,
  ids: readonly CallId[],
  rows: { outputOf(this: void, id: CallId): Pick<StoredOutput, 'outputBytes'> | undefined },
  source: {
    readOutputs(threadId: ThreadId, ids: readonly CallId[]): Promise<LargeOutputs>
  },
): Promise<LargeOutputs> {
  const outputs = new Map<CallId, Pick<StoredOutput, 'output' | 'modelOutput'>>()
  for (const portion of cutOutputs(ids, (id) => rows.outputOf(id)?.outputBytes ?? 0)) {
    for (const [id, output] of await source.readOutputs(threadId, portion)) outputs.set(id, output)
  }
  return outputs
}

/** Of one statement that reads results. */
const mostOutputBytes = 4_194_304

function* cutOutputs(
  ids: readonly CallId[],
  bytesOf: (id: CallId) => number,
): Generator<readonly CallId[]> {
  let portion: CallId[] = []
  let bytes = 0
  for (const id of ids) {
    const size = bytesOf(id)
    if (portion.length > 0 && bytes + size > mostOutputBytes) {
      yield portion
      portion = []
      bytes = 0
    }
    portion.push(id)
    bytes += size
  }
  if (portion.length > 0) yield portion
}
