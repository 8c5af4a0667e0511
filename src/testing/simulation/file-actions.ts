import { type FileId, fileIdOf, type FileRecord, toFileUrl } from '../../core/file.ts'
import type { LedgerEvent } from '../../core/event.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { Message, UserPart } from '../../core/message.ts'
import type { Cluster } from './cluster.ts'
import { unusedMs } from './simulated-files.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** A user uploads a file. Its id is no part of the trace, because it differs in every run. */
export function uploadFile(cluster: Cluster, process: SimulatedProcess): void {
  const name = cluster.newId('file')
  let file: FileRecord | null = null
  cluster.requests.submit({
    process: process.name,
    label: `upload ${name}`,
    async send() {
      const content = one(Buffer.from(`content of ${name}`))
      file = await process.holdfast.files.add({ ownerId: 'owner', content, filename: name })
      return file.bytes
    },
    faults: ['file-not-found'],
    onAnswer() {
      if (file === null) return
      cluster.count('file-uploaded')
      cluster.uploads.push(toFileUrl(file.id))
    },
  })
}

/** One of the last uploaded files, as a part of a message; it may have been collected since. */
export function someFile({ random, uploads, isQuiescing }: Cluster): readonly UserPart[] {
  if (isQuiescing || uploads.length === 0 || random.chance(0.4)) return []
  return [{ type: 'file', mediaType: 'text/plain', url: random.pick(uploads.slice(-3)) }]
}

/** Collects files that nothing refers to: each process also does so by itself, though seldom. */
export function collectFiles(cluster: Cluster, process: SimulatedProcess): void {
  cluster.requests.submit({
    process: process.name,
    label: 'collect files',
    send: () => process.holdfast.files.collect(),
    onAnswer(removed) {
      if (removed > 0) cluster.count('file-collected')
    },
  })
}

/** A user deletes a fork: files that only it referred to are deleted with it. */
export function deleteFork(cluster: Cluster, process: SimulatedProcess): void {
  const id = [...cluster.forks].at(-1)
  if (id === undefined) return
  cluster.forks.delete(id)
  cluster.requests.submit({
    process: process.name,
    label: `delete ${id}`,
    send: () => process.holdfast.threads.delete(id),
    onAnswer: () => cluster.count('fork-deleted'),
  })
}

/**
 * After all unused files have been collected: no file is lost that a message refers to, and none is kept that no thread
 * has ever referred to (FL2).
 */
export async function checkFiles(cluster: Cluster, process: SimulatedProcess): Promise<void> {
  const { report, store, fileStore } = cluster
  const named = new Set<FileId>()
  const everNamed = new Set<FileId>()
  for (const threadId of cluster.threads) {
    const { events, view } = cluster.oracleOf(threadId)
    for (const id of events.flatMap(filesOf)) everNamed.add(id)
    for (const id of view.messages.flatMap(filesIn)) named.add(id)
    for (const { parts } of view.queue ?? []) for (const id of idsOf(parts)) named.add(id)
  }
  const { threads } = await store.listThreads({ ownerId: 'owner', limit: 200, before: null })
  for (const { id } of threads) {
    for (const file of (await readShown(store, id)).flatMap(filesIn)) named.add(file)
  }
  await collectAll(cluster, process)
  for (const id of named) {
    const isThere = (await store.files?.read(id)) != null && fileStore.ids.has(id)
    if (!isThere) report('FL2', `a file that a message names was lost`)
  }
  const isKnown = (id: FileId) => everNamed.has(id) || named.has(id)
  const left = [...fileStore.ids].filter((id) => !isKnown(id))
  if (left.length > 0) report('FL2', `${left.length} files were kept that nothing names`)
}

async function collectAll(cluster: Cluster, process: SimulatedProcess): Promise<void> {
  const collected = { isDone: false }
  const later = cluster.scheduler.now() + unusedMs + reservedMs
  while (await cluster.scheduler.step(later)) {
    // The last uploads and reservations become unused.
  }
  void process.holdfast.files.collect().finally(() => {
    collected.isDone = true
  })
  while (!collected.isDone && (await cluster.scheduler.step(Number.POSITIVE_INFINITY))) {
    // The step itself is the work.
  }
}

/** Longer than a file is kept for a message that may still arrive. */
const reservedMs = 150_000

const idsOf = (parts: readonly UserPart[]): readonly FileId[] =>
  parts.flatMap((part) => (part.type === 'file' ? (fileIdOf(part.url) ?? []) : []))

const filesIn = (message: Message): readonly FileId[] =>
  message.role === 'assistant'
    ? message.steps.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'steering' ? idsOf(part.parts) : [])),
      )
    : idsOf(message.parts)

function filesOf(event: LedgerEvent): readonly FileId[] {
  if (event.type === 'message-added' || event.type === 'input-joined') return idsOf(event.parts)
  if (event.type === 'input-queued') return idsOf(event.input.parts)
  return event.type === 'input-revised' ? idsOf(event.parts ?? []) : []
}

async function readShown(store: Cluster['store'], threadId: ThreadId): Promise<readonly Message[]> {
  const query = { threadId, limit: 1_000, before: null, live: 'include', results: 'full' } as const
  return (await store.readPage(query))?.messages ?? []
}

async function* one(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}
