import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import pg from 'pg'

/**
 * A strict pooler in transaction mode: whoever asks gets another server connection for each transaction, the one
 * that was used longest ago, and nothing is reset in between. So what one client leaves behind is met by
 * others, and what one expects to find again is gone.
 */
export interface TransactionPooler {
  /** As the address of the server behind it. */
  readonly url: string
  /** Settings, prepared statements, listeners and locks that are left on the server connections. */
  leftBehind(): Promise<readonly string[]>
  /** How many transactions went through. */
  readonly transactions: number
  close(): Promise<void>
}

interface ServerLine {
  readonly socket: Socket
  client: ClientLine | null
  /** Where what it says goes. */
  onFrame: (frame: Buffer) => void
}

interface ClientLine {
  readonly socket: Socket
  server: ServerLine | null
  /** Frames that wait for a server. */
  readonly waiting: Buffer[]
  /** Answers that the server owes: it is kept until then. */
  owed: number
}

const questions = [
  `SELECT 'setting ' || name || ' = ' || setting FROM pg_settings
   WHERE source = 'session' AND name NOT IN ('client_encoding', 'application_name')`,
  `SELECT 'statement ' || name FROM pg_prepared_statements`,
  `SELECT 'listens to ' || pg_listening_channels()`,
  `SELECT 'lock ' || locktype FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'`,
  `SELECT 'table ' || relname FROM pg_class WHERE relpersistence = 't'`,
]

export interface TransactionPoolerOptions {
  /** @default 3 */
  readonly size?: number
  /**
   * Gives its clients the number of a real server process, so that they cannot tell by that. No pooler that
   * people run does this.
   * @default false
   */
  readonly isDisguised?: boolean
}

export async function startTransactionPooler(
  serverUrl: string,
  { size = 3, isDisguised = false }: TransactionPoolerOptions = {},
): Promise<TransactionPooler> {
  const servers: ServerLine[] = []
  /** Least recently used first. */
  const free: ServerLine[] = []
  const clients = new Set<ClientLine>()
  const queue: ClientLine[] = []
  let isClosed = false
  let transactions = 0
  let processId = 0
  let parameters: Buffer = Buffer.alloc(0)

  const link = (client: ClientLine, server: ServerLine) => {
    client.server = server
    server.client = client
    for (const frame of client.waiting.splice(0)) forward(client, server, frame)
  }
  const forward = (client: ClientLine, server: ServerLine, frame: Buffer) => {
    if (frame[0] === letter('Q') || frame[0] === letter('S')) client.owed++
    server.socket.write(frame)
  }
  const release = (server: ServerLine) => {
    transactions++
    if (server.client !== null) server.client.server = null
    server.client = null
    free.push(server)
    assignFreeServer()
  }
  const drop = (server: ServerLine) => {
    server.client?.socket.destroy()
    if (free.includes(server)) free.splice(free.indexOf(server), 1)
    servers.splice(servers.indexOf(server), 1)
    // Without another one, clients that die in mid-transaction would leave no server to the others. A server that has gone
    // takes no connection.
    if (!isClosed) openServer().catch(() => undefined)
  }
  const assignFreeServer = () => {
    const [client] = queue
    const [server] = free
    if (client === undefined || server === undefined) return
    queue.shift()
    free.shift()
    link(client, server)
  }

  const openServer = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: serverUrl })
    const { stream, on } = wireOf(client)
    const seen: Buffer[] = []
    on('parameterStatus', ({ parameterName, parameterValue }) => {
      seen.push(frameOf('S', `${parameterName}\0${parameterValue}\0`))
    })
    await client.connect()
    processId = (client as unknown as { processID: number }).processID
    parameters = Buffer.concat(seen)
    // Only the sign-in was wanted of the driver: from here on its socket is ours.
    for (const event of ['data', 'end', 'close', 'error']) stream.removeAllListeners(event)
    const server: ServerLine = { socket: stream, client: null, onFrame: () => {} }
    server.onFrame = (frame) => {
      const { client: mine } = server
      if (mine === null) return
      mine.socket.write(frame)
      if (frame[0] !== letter('Z')) return
      mine.owed--
      if (mine.owed <= 0 && frame[5] === letter('I')) release(server)
    }
    stream.on(
      'data',
      readFrames((frame) => server.onFrame(frame)),
    )
    stream.setNoDelay()
    stream.on('error', () => {})
    stream.on('close', () => drop(server))
    if (isClosed) return void stream.destroy()
    servers.push(server)
    free.push(server)
    assignFreeServer()
  }
  for (let count = 0; count < size; count++) await openServer()

  const receive = (client: ClientLine, frame: Buffer) => {
    if (frame[0] === letter('X')) return client.socket.end()
    if (client.server !== null) return forward(client, client.server, frame)
    client.waiting.push(frame)
    if (client.waiting.length > 1) return
    const server = free.shift()
    if (server === undefined) queue.push(client)
    else link(client, server)
  }

  const listener = createServer((socket) => {
    const client: ClientLine = { socket, server: null, waiting: [], owed: 0 }
    clients.add(client)
    let read: ((chunk: Buffer) => void) | null = null
    let start: Buffer = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      if (read !== null) return read(chunk)
      start = Buffer.concat([start, chunk])
      if (start.length < 8 || start.length < start.readInt32BE(0)) return
      const [rest, code] = [start.subarray(start.readInt32BE(0)), start.readInt32BE(4)]
      start = rest
      if (code === sslRequest) return void socket.write('N')
      read = readFrames((frame) => receive(client, frame))
      const key = Buffer.alloc(8)
      key.writeInt32BE(isDisguised ? processId : 0x7fff_0000 + clients.size)
      socket.write(
        Buffer.concat([frameOf('R', '\0\0\0\0'), parameters, frameOf('K', key), frameOf('Z', 'I')]),
      )
    })
    socket.setNoDelay()
    socket.on('error', () => {})
    socket.on('close', () => {
      clients.delete(client)
      if (queue.includes(client)) queue.splice(queue.indexOf(client), 1)
      // In mid-transaction the server connection is of no more use to anybody.
      client.server?.socket.destroy()
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`

  return {
    url: url.href,
    get transactions() {
      return transactions
    },
    async leftBehind() {
      const found: string[] = []
      for (const server of servers) {
        for (const question of questions) found.push(...(await queryServer(server, question)))
      }
      return found
    },
    async close() {
      isClosed = true
      listener.close()
      for (const { socket } of clients) socket.destroy()
      for (const { socket } of [...servers]) socket.destroy()
    },
  }
}

const sslRequest = 80_877_103
const letter = (text: string): number => text.charCodeAt(0)

function frameOf(type: string, body: string | Buffer): Buffer {
  const content = Buffer.from(body)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(content.length + 4, 1)
  return Buffer.concat([head, content])
}

/** Cuts what comes in into frames of the protocol. */
function readFrames(onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = rest.readInt32BE(1) + 1
      const frame = rest.subarray(0, end)
      rest = rest.subarray(end)
      onFrame(frame)
    }
  }
}

/** One question on a server connection that nobody uses; the first column of each row. */
async function queryServer(server: ServerLine, question: string): Promise<readonly string[]> {
  const { onFrame } = server
  const found: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  server.onFrame = (frame) => {
    if (frame[0] === letter('D')) found.push(frame.subarray(11).toString())
    if (frame[0] === letter('E')) found.push(`error ${frame.toString()}`)
    if (frame[0] === letter('Z')) resolve()
  }
  server.socket.write(frameOf('Q', `${question}\0`))
  await promise
  server.onFrame = onFrame
  return found
}

interface ParameterStatus {
  readonly parameterName: string
  readonly parameterValue: string
}

function wireOf(client: pg.Client) {
  const { connection } = client as unknown as {
    readonly connection: {
      readonly stream: Socket
      on(event: 'parameterStatus', listener: (status: ParameterStatus) => void): void
    }
  }
  return { stream: connection.stream, on: connection.on.bind(connection) }
}
