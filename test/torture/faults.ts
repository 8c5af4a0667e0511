import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Random } from '../../src/testing/random.ts'
import type { Server } from './fleet.ts'
import { requestJson } from './http.ts'
import type { TortureContext } from './torture-context.ts'

/** One kind of fault: injects it, waits, and undoes what does not end by itself. False: it could not be done now. */
export interface Fault {
  readonly name: string
  readonly stores: readonly TortureContext['store'][]
  run(context: TortureContext, random: Random): Promise<boolean>
}

const both = ['sqlite', 'postgres'] as const
/** More than a lease (2 s), some of the time. */
const aWhile = (random: Random): Promise<void> => pause(300 + random.int(3_200))

/** Does something to a server that no other fault has; the first is never killed, so that it sees everything. */
const toServer =
  (
    which: 'any' | 'killable',
    inject: (server: Server, random: Random, context: TortureContext) => Promise<void>,
  ) =>
  async (context: TortureContext, random: Random): Promise<boolean> => {
    const free = context.fleet.servers
      .slice(which === 'any' ? 0 : 1)
      .filter(({ isHeld }) => !isHeld)
    if (free.length === 0) return false
    const server = random.pick(free)
    server.isHeld = true
    server.timesHeld++
    try {
      await inject(server, random, context)
    } finally {
      server.isHeld = false
    }
    return true
  }

const ourName = 'torture'

async function connectTo(db: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: db, application_name: ourName })
  await client.connect()
  return client
}

/** Statements that hold something, and their undoing. */
const toPostgres =
  (inject: (client: pg.Client, context: TortureContext, random: Random) => Promise<unknown>) =>
  async (context: TortureContext, random: Random): Promise<boolean> => {
    const client = await connectTo(context.db)
    try {
      await inject(client, context, random)
    } finally {
      await client.end()
    }
    return true
  }

export const faults: readonly Fault[] = [
  {
    name: 'kill',
    stores: both,
    run: toServer('killable', async (server, random) => {
      await server.kill()
      await pause(random.int(1_500))
      await server.start()
    }),
  },
  {
    name: 'restart',
    stores: both,
    run: toServer('killable', async (server, _, { coverage }) => {
      if (!(await server.stop())) coverage.add('restarts that took too long')
      await server.start()
    }),
  },
  {
    name: 'frozen process',
    stores: both,
    run: toServer('any', async (server, random) => {
      server.signal('SIGSTOP')
      await aWhile(random)
      server.signal('SIGCONT')
    }),
  },
  {
    name: 'jump of the clock',
    stores: both,
    run: toServer('any', async (server, random) => {
      const hours = random.pick([-24, -1, 1, 24])
      await server.order({ type: 'clock', offsetMs: hours * 3_600_000 })
      await aWhile(random)
      await server.order({ type: 'clock', offsetMs: 0 })
    }),
  },
  { name: 'import', stores: both, run: importThread },
  { name: 'readers that never read', stores: both, run: openSlowReaders },
  {
    name: 'locked file',
    stores: ['sqlite'],
    async run({ db }, random) {
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
      const outsider = new DatabaseSync(db, { timeout: 3_000 })
      try {
        outsider.exec('BEGIN EXCLUSIVE')
        await aWhile(random)
        outsider.exec('ROLLBACK')
      } catch {
        // Somebody else held it all the time.
        return false
      } finally {
        outsider.close()
      }
      return true
    },
  },
  {
    name: 'full disk',
    stores: ['sqlite'],
    run: toServer('any', async (server, random) => {
      await server.order({ type: 'disk', isFull: true })
      await aWhile(random)
      await server.order({ type: 'disk', isFull: false })
    }),
  },
  {
    name: 'stalled connections',
    stores: ['postgres'],
    run: toServer('any', async ({ line }, random) => {
      line?.stall(random.pick(['all', 'now', 'answers']))
      await aWhile(random)
      line?.restore()
    }),
  },
  {
    name: 'dropped connections',
    stores: ['postgres'],
    run: toPostgres((client) =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name <> $1`,
        [ourName],
      ),
    ),
  },
  {
    name: 'locked row',
    stores: ['postgres'],
    run: toPostgres(async (client, { threads }, random) => {
      const recent = [...threads.keys()].slice(-8)
      if (recent.length === 0) return
      await client.query('begin')
      await client.query('select from holdfast.threads where id = $1 for update', [
        random.pick(recent),
      ])
      await aWhile(random)
      await client.query('rollback')
    }),
  },
  {
    name: 'locked table',
    stores: ['postgres'],
    run: toPostgres(async (client, _, random) => {
      const table = random.pick(['threads', 'messages', 'events', 'calls'])
      await client.query('begin')
      await client.query(`set local lock_timeout = '3s'`)
      await client.query(`lock table holdfast.${table} in access exclusive mode`)
      await aWhile(random)
      await client.query('rollback')
    }),
  },
  {
    // What PostgreSQL answers when its disk is full, to all that would make a table larger.
    name: 'full disk',
    stores: ['postgres'],
    run: toPostgres(async (client, _, random) => {
      await client.query(`set lock_timeout = '3s'`)
      await client.query(`create or replace function holdfast.refuse() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`)
      await client.query(`create or replace trigger refuse before insert on holdfast.events
        for each statement execute function holdfast.refuse()`)
      await aWhile(random)
      await removeRefusal(client)
    }),
  },
]

/** The one fault that outlives the connection that made it. */
async function removeRefusal(client: pg.Client): Promise<void> {
  await client.query('set lock_timeout = 0')
  await client.query('drop trigger if exists refuse on holdfast.events')
}

/** Undoes what a fault may have left that failed half-way. */
export async function undoFaults({ store, fleet, db }: TortureContext): Promise<void> {
  for (const server of fleet.servers) {
    server.signal('SIGCONT')
    server.line?.restore()
    if (server.url() === undefined) await server.start()
    await server.order({ type: 'clock', offsetMs: 0 })
    await server.order({ type: 'disk', isFull: false })
  }
  if (store === 'sqlite') return
  const client = await connectTo(db)
  await removeRefusal(client)
  await client.end()
}

const importer = 'importer'

async function importThread(
  { fleet, shown, threads }: TortureContext,
  random: Random,
): Promise<boolean> {
  const url = fleet.pick(random)
  if (url === undefined) return false
  const id = `imported-in-torture-${random.int(2 ** 30)}`
  const text = 'What was found, in a few words. '.repeat(64)
  const turns = 50 + random.int(400)
  const messages = Array.from({ length: turns }, (_, turn) => [
    { id: `${id}-u${turn}`, role: 'user', parts: [{ type: 'text', text: 'Look it up.' }] },
    {
      id: `${id}-a${turn}`,
      role: 'assistant',
      parts: [
        {
          type: 'tool-look_up',
          toolCallId: `${id}-c${turn}`,
          state: 'output-available',
          input: {},
          output: { text },
        },
        { type: 'text', text: `${text}${turn}` },
      ],
    },
  ]).flat()
  const body = JSON.stringify({ threads: [{ id, messages }] })
  const answer = await requestJson(`${url}/api/import?format=ui`, { owner: importer, body })
  if (answer?.status !== 200) return false
  threads.set(id, importer)
  for (const message of messages) {
    if (message.role === 'user') shown.addMessage(id, message.id)
    else shown.turnOf(id, message.id).addText(`${text}${/\d+$/.exec(message.id)?.[0]}`)
  }
  return true
}

async function openSlowReaders(
  { fleet, threads }: TortureContext,
  random: Random,
): Promise<boolean> {
  const thread = [...threads].findLast(([, owner]) => owner === importer)?.[0]
  const url = fleet.pick(random)
  if (thread === undefined || url === undefined) return false
  const { hostname, port } = new URL(url)
  const paths = [`/api/threads/${thread}/events`, `/api/threads/${thread}/messages?limit=200`]
  const sockets = Array.from({ length: 12 }, (_, index) => {
    const socket = connect(Number(port), hostname)
    // Cut off by the server, which is its right.
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(
      `GET ${paths[index % 2]} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${importer}\r\n\r\n`,
    )
    return socket
  })
  await aWhile(random)
  for (const socket of sockets) socket.destroy()
  return true
}
