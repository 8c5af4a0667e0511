import type { CallId, ThreadId } from '../core/ids.ts'
import type { StoredOutput } from './stored-output.ts'

/** Outputs that a read had left out, by call. */
export type LargeOutputs = ReadonlyMap<CallId, Pick<StoredOutput, 'output' | 'modelOutput'>>

/**
 * Read in portions: one statement for all results of a turn of 60 MB would exceed the time limit of a
 * statement (OP7).
 */
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

/** The most bytes that one statement reads. */
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
