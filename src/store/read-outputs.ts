import { setImmediate } from 'node:timers/promises'
import type { CallId, ThreadId } from '../core/ids.ts'
import { readOutputText, type StoredOutput } from './stored-output.ts'

/** Outputs that a read had left out, by call. */
export type LargeOutputs = ReadonlyMap<
  CallId,
  Pick<StoredOutput, 'output' | 'modelOutput' | 'value'>
>

/**
 * Read and parsed in portions, between which other work runs: one statement for all results of a turn of 60 MB would
 * exceed the time limit of a statement, and parsing all of them at once would block the process (OP7).
 */
export async function readOutputs(
  threadId: ThreadId,
  ids: readonly CallId[],
  rows: { outputOf(this: void, id: CallId): Pick<StoredOutput, 'outputBytes'> | undefined },
  source: {
    readOutputs(threadId: ThreadId, ids: readonly CallId[]): Promise<LargeOutputs>
  },
): Promise<LargeOutputs> {
  const outputs = new Map<CallId, Pick<StoredOutput, 'output' | 'modelOutput' | 'value'>>()
  let isFirst = true
  for (const portion of cutOutputs(ids, (id) => rows.outputOf(id)?.outputBytes ?? 0)) {
    if (!isFirst) await setImmediate()
    isFirst = false
    for (const [id, row] of await source.readOutputs(threadId, portion)) {
      const { output, modelOutput } = row
      outputs.set(
        id,
        output === null ? row : { output, modelOutput, value: readOutputText(output) },
      )
    }
  }
  return outputs
}

/** The most bytes that one statement reads. */
const mostOutputBytes = 1_048_576

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
