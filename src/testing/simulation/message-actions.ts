import { type MessageId, parseMessageId, type ThreadId } from '../../core/ids.ts'
import type { SendResult } from '../../engine/input/begin-answer.ts'
import type { NamedSendRequest } from '../../engine/input/send.ts'
import { userText } from './check-views.ts'
import type { Cluster } from './cluster.ts'
import { type SimulatedProcess, unusedMs } from './simulated-process.ts'
import { type FileId, fileIdOf, type FileRecord, toFileUrl } from '../../core/file.ts'
import type { LedgerEvent } from '../../core/event.ts'
import type { Message, UserPart } from '../../core/message.ts'

/** What users do with messages. Records which were accepted, so that `checkEnd` can look for them. */
export interface MessageActions {
  readonly accepted: ReadonlyMap<ThreadId, ReadonlySet<MessageId>>
  send(threadId: ThreadId, process: SimulatedProcess): void
  /** Sends a message again under its id, like a client that got no response. */
  repeat(threadId: ThreadId, process: SimulatedProcess): void
  edit(threadId: ThreadId, process: SimulatedProcess): void
  regenerate(threadId: ThreadId, process: SimulatedProcess): void
  continue(threadId: ThreadId, process: SimulatedProcess): void
  /** Edits, moves or withdraws queued inputs, or releases held ones. */
  changeQueue(threadId: ThreadId, process: SimulatedProcess): void
}

export function createMessageActions(cluster: Cluster): MessageActions {
  const { random, requests, report, count } = cluster
  const accepted = new Map<ThreadId, Set<MessageId>>()
  const tried = new Map<ThreadId, MessageId[]>()

  const isStored = (threadId: ThreadId, id: MessageId): boolean =>
    cluster
      .oracleOf(threadId)
      .events.some(
        (event) =>
          (event.type === 'input-queued' && event.input.id === id) ||
          ((event.type === 'message-added' || event.type === 'input-joined') &&
            event.messageId === id &&
            JSON.stringify(event.parts).includes(userText(id))),
      )

  /** The input is queued in the mode that its sender chose. */
  const checkMode = ({ threadId, message: { id }, whenBusy }: NamedSendRequest) => {
    if (whenBusy !== 'interrupt') return
    const isInterrupt = cluster
      .oracleOf(threadId)
      .events.some(
        (event) =>
          event.type === 'input-queued' && event.input.id === id && event.input.mode === whenBusy,
      )
    if (!isInterrupt) report('IN4', `${id} was to interrupt, and waits behind the others`)
  }

  /**
   * Answered once, in its own turn or in the one that it joined, or withdrawn, however often it is sent; an edit makes a
   * version of it.
   */
  const checkOnce = ({ threadId, message: { id } }: NamedSendRequest) => {
    const ends = cluster
      .oracleOf(threadId)
      .events.filter(
        (event) =>
          ((event.type === 'message-added' && event.versionOf === undefined) ||
            event.type === 'input-joined' ||
            event.type === 'input-withdrawn') &&
          event.messageId === id,
      )
    if (ends.length > 1) report('IN6', `${id} was answered or withdrawn ${ends.length} times`)
  }

  const submit = (process: SimulatedProcess, request: NamedSendRequest) => {
    const { threadId, message } = request
    const attempts = tried.get(threadId) ?? []
    tried.set(threadId, [...attempts, message.id])
    const isOnly = () => tried.get(threadId)?.filter((id) => id === message.id).length === 1
    const replaces = request.replaces === undefined ? '' : ` for ${request.replaces}`
    requests.submit<SendResult>({
      process: process.name,
      label: `send ${message.id}${replaces} to ${threadId}`,
      send: () => process.holdfast.send(request),
      faults: ['message-not-found', 'queue-full', 'conflict', 'file-not-found'],
      onAnswer(answer) {
        switch (answer.kind) {
          case 'started':
          case 'joined':
          case 'repeated':
          case 'queued':
          case 'steering':
            if (answer.kind === 'joined' || answer.kind === 'repeated') count('message-repeated')
            if (!isStored(threadId, message.id)) report('LG6', `${message.id} was not stored`)
            if (isOnly() && answer.kind === 'queued') checkMode(request)
            checkOnce(request)
            if (message.parts.length > 1) count('file-sent')
            accepted.set(threadId, (accepted.get(threadId) ?? new Set()).add(message.id))
            return
          case 'run-active':
            count('message-refused')
            if (isOnly() && isStored(threadId, message.id)) {
              report('RS5', `${message.id} was refused and stored all the same`)
            }
            return
          default:
            report('LG6', `${message.id}: ${answer.kind}`)
        }
      },
    })
  }

  const contents = new Map<MessageId, NamedSendRequest['message']['parts']>()
  /** Always the same content under one id: a client that sends a message again does not change it. */
  const messageOf = (id: MessageId): NamedSendRequest['message'] => {
    const text = { type: 'text', text: userText(id) } as const
    const parts = contents.get(id) ?? [text, ...someFile(cluster)]
    contents.set(id, parts)
    return { id, parts }
  }
  const shownTo = (threadId: ThreadId) => cluster.oracleOf(threadId).view.messages

  return {
    accepted,
    send(threadId, process) {
      const whenBusy = random.pick(['queue', 'queue', 'steer', 'interrupt', 'reject'] as const)
      const message = messageOf(parseMessageId(cluster.newId('user')))
      submit(process, { threadId, message, whenBusy })
    },
    changeQueue(threadId, process) {
      const { queue = [] } = cluster.oracleOf(threadId).view
      if (queue.length === 0) return
      const { queues } = process.holdfast
      const { id } = random.pick(queue)
      const before = random.chance(0.5) ? random.pick(queue).id : null
      // The edited text must still contain the id by which `checkPrompt` finds the message.
      const text = `${userText(id)} edited`
      const [label, send] = random.pick([
        [`withdraw ${id}`, () => queues.withdraw(threadId, id)],
        [`move ${id}`, () => queues.update(threadId, id, { before })],
        [`edit ${id}`, () => queues.update(threadId, id, { text })],
        [`release ${threadId}`, () => queues.release(threadId)],
        [`release ${threadId}`, () => queues.release(threadId)],
      ] as const)
      requests.submit<boolean>({
        process: process.name,
        label,
        // Not its response: the address of a file differs in every run, and traces must not.
        send: async () => (await send()) !== null,
        faults: ['input-taken', 'message-not-found', 'bad-request', 'file-not-found'],
        onAnswer: () => count('queue-changed'),
      })
    },
    repeat(threadId, process) {
      // Whatever has become of it: it joined a turn, was edited away or withdrawn.
      const ids = (tried.get(threadId) ?? []).slice(-8)
      if (ids.length === 0) return
      submit(process, { threadId, message: messageOf(random.pick(ids)) })
    },
    edit(threadId, process) {
      const users = shownTo(threadId).filter(({ role }) => role === 'user')
      if (users.length === 0) return
      const replaces = random.pick(users).id
      const id = random.chance(0.5) ? replaces : parseMessageId(cluster.newId('user'))
      count('edit')
      submit(process, { threadId, message: messageOf(id), replaces })
    },
    regenerate(threadId, process) {
      const turns = shownTo(threadId).filter(({ role }) => role === 'assistant')
      const target = random.chance(0.5) || turns.length === 0 ? undefined : random.pick(turns).id
      requests.submit({
        process: process.name,
        label: `regenerate ${target ?? 'the last'} of ${threadId}`,
        send: () =>
          process.holdfast.regenerate({
            threadId,
            ...(target === undefined ? {} : { messageId: target }),
          }),
        faults: ['message-not-found'],
        onAnswer(answer) {
          if (answer.kind === 'started') count('regenerate')
        },
      })
    },
    continue(threadId, process) {
      requests.submit({
        process: process.name,
        label: `continue ${threadId}`,
        send: () => process.holdfast.continue(threadId),
        onAnswer(answer) {
          if (answer.kind === 'continued') count('continue')
        },
      })
    },
  }
}

/** A user stops what runs or waits in a thread, through any process (ST1, ST1a). */
export function stop(cluster: Cluster, threadId: ThreadId, process: SimulatedProcess): void {
  const oracle = cluster.oracleOf(threadId)
  const { seq } = oracle.view
  const before = oracle.lease
  const running = [...oracle.turns.values()]
    .filter(({ progress }) => progress.status === 'running')
    .map(({ id }) => id)
  const last = oracle.view.messages.at(-1)
  const waiting = last?.role === 'assistant' && last.progress.status === 'waiting' ? last.id : null
  const isGoingAgain = (id: MessageId) =>
    oracle.events.some(
      (event) => event.seq > seq && event.type === 'turn-resumed' && event.turnId === id,
    )
  cluster.requests.submit({
    process: process.name,
    label: `stop ${threadId}`,
    send: () => process.holdfast.stop(threadId),
    onAnswer(answer) {
      if (answer.kind === 'no-thread') cluster.report('ST1', `${threadId} was not found`)
      if (answer.kind === 'idle') {
        const isSame = before !== null && oracle.lease?.fence === before.fence
        if (isSame) cluster.report('ST1', `${threadId} was called idle while it ran`)
        if (waiting !== null && oracle.view.seq === seq) {
          cluster.report('ST1a', `${waiting} was called idle while it waited`)
        }
        return
      }
      if (waiting !== null) {
        cluster.count('stop-waiting')
        const now = oracle.turns.get(waiting)?.progress.status
        if (now === 'waiting' && !isGoingAgain(waiting)) {
          cluster.report('ST1a', `${waiting} was called stopped and waits`)
        }
      }
      cluster.count('stop')
      if (before !== null && before.holder !== process.name) cluster.count('stop-from-elsewhere')
      for (const id of running) {
        const now = oracle.turns.get(id)?.progress.status
        if (now === 'running' && !isGoingAgain(id)) {
          cluster.report('ST1', `${id} was called stopped and runs`)
        }
      }
    },
  })
}

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
function someFile({ random, uploads, isQuiescing }: Cluster): readonly UserPart[] {
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
