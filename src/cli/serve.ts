import { spawn } from 'node:child_process'
import { systemClock, wait } from '../engine/clock.ts'
import { createHoldfast } from '../engine/create-holdfast.ts'
import { combineHooks } from '../engine/telemetry/combine-hooks.ts'
import { createHandler, type Handler } from '../server/create-handler.ts'
import { describeListenFault } from '../server/listen-fault.ts'
import type { ListenOptions } from '../server/listen-options.ts'
import { listen, type Listening } from '../server/node-listener.ts'
import { pageSafetyHeaders, withSafetyHeaders } from '../server/safety-headers.ts'
import { chooseAuthentication } from './authentication.ts'
import { CliError } from './cli-error.ts'
import { createDrainGate } from './drain-gate.ts'
import type { Command, CommandContext, ExitCode } from './command.ts'
import type { HoldfastConfig } from './config.ts'
import { loadConfig } from './load-config.ts'
import { findSilentServer, loadModel } from './load-model.ts'
import { openStore } from './open-store.ts'
import { parseArguments, parseChoice, parseNumber, refusePositionals } from './parse-arguments.ts'
import { createServeLog, logKinds } from './serve-log.ts'

export const serveCommand: Command = {
  help: `holdfast serve [--port 8787] [--host 127.0.0.1] [--db FILE|URL] [--config FILE] [--open]

  --port     (or PORT) 0 selects a free port
  --host     (or HOST) reachable from other machines only with HOLDFAST_TOKEN, or a config with authenticate
  --db       the database (or HOLDFAST_DB; without either: holdfast.db)
  --config   a file whose default export has model, instructions, tools, policies, authenticate and others
  --open     opens the URL in a browser
  --log      ${logKinds.join('|')}: one line per request and per turn; default text on a terminal, else json
  --grace    seconds that running turns have to finish when the server is stopped (10)

HOLDFAST_MODEL is demo, openai:MODEL (with OPENAI_API_KEY), anthropic:MODEL (ANTHROPIC_API_KEY) or
openai-compatible:MODEL (HOLDFAST_MODEL_URL, and HOLDFAST_MODEL_KEY if the API needs one).
HOLDFAST_TOKEN is the token that clients must send. Without --config the demo model has its own harmless
tools. HOLDFAST_DEMO_DELAY_MS slows it down; HOLDFAST_DEMO_CHARGES names a file that gets one line per
charge of its card.

Stopped by Ctrl-C or SIGTERM; a second signal ends it at once. Exit code: 0 stopped, 2 could not start.`,
  run,
}

async function run({ args, env, terminal }: CommandContext): Promise<ExitCode> {
  const { values, positionals } = parseArguments('serve', args, {
    port: { type: 'string' },
    host: { type: 'string' },
    db: { type: 'string' },
    config: { type: 'string' },
    open: { type: 'boolean' },
    log: { type: 'string' },
    grace: { type: 'string' },
  })
  refusePositionals('serve', positionals, 'Pass the database with --db.')
  const port =
    parseNumber('--port', values.port, 0, 65_535) ??
    parseNumber('PORT', env['PORT'], 0, 65_535) ??
    8787
  const host = values.host ?? (env['HOST'] || '127.0.0.1')
  const graceMs = (parseNumber('--grace', values.grace, 0, 3_600) ?? 10) * 1_000
  const logKind =
    parseChoice('--log', values.log, logKinds) ?? (terminal.isWatched ? 'text' : 'json')

  const config = await loadConfig(values.config)
  const { model: ownModel, authenticate: ownWay, pages, ...rest } = config
  const { allowedOrigins, limits, trustProxy, sharing, ...engine } = rest
  const authenticate = chooseAuthentication(ownWay, env['HOLDFAST_TOKEN'], host)
  // With a config's `agent`, that selects the model of each turn.
  const named = engine.agent === undefined ? env['HOLDFAST_MODEL'] || undefined : undefined
  const isOwn = named === undefined && (ownModel ?? engine.agent) !== undefined
  const { model, own } = isOwn
    ? { model: ownModel, own: undefined }
    : await loadModel(named ?? 'demo', env)
  const silent = named === undefined ? undefined : await findSilentServer(env)
  if (silent !== undefined) terminal.note(`${terminal.paint('yellow', 'holdfast:')} ${silent}`)

  const log = createServeLog(logKind, terminal)
  const store = await openStore({ db: values.db, env, need: 'any' })
  // Ready means that the database responds: an unreachable one is reported now, not to every client.
  await store.findAbandonedRuns(1).catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  const tools = engine.tools === undefined ? own : undefined
  const holdfast = createHoldfast({
    title: {},
    ...tools,
    ...engine,
    ...(model === undefined ? {} : { model }),
    store,
    hooks: combineHooks(log.event, engine.hooks),
  })
  const handler = createHandler(holdfast, {
    log: log.request,
    ...(authenticate === undefined ? {} : { authenticate }),
    ...(allowedOrigins === undefined ? {} : { allowedOrigins }),
    ...(limits === undefined ? {} : { limits }),
    ...(trustProxy === undefined ? {} : { trustProxy }),
    ...(sharing === undefined ? {} : { sharing }),
  })
  const gate = createDrainGate(withPages(handler, pages))
  try {
    const listening = await start(gate.handler, { port, host, onError: log.fault })
    const stopped = waitForSignal((signal) => process.exit(signal === 'SIGINT' ? 130 : 143))
    terminal.print(`Holdfast is listening on ${listening.url}`)
    if (values.open === true) openBrowser(listening.url)
    await stopped
    gate.shut()
    await atMost(graceMs, holdfast.settled())
    if (holdfast.running().length === 0) await atMost(drainMs, gate.drained())
    await holdfast.close()
    await listening.close()
  } finally {
    await holdfast.close()
    await store.close()
  }
  return 0
}

/** How long the end of a response may take to reach a slow client. */
const drainMs = 2_000

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const patience = new AbortController()
  await Promise.race([work, wait(systemClock, ms, patience.signal)])
  patience.abort()
}

const withPages =
  (handler: Handler, pages: HoldfastConfig['pages']): Handler =>
  async (request) => {
    const { pathname } = new URL(request.url)
    const isApi = pathname === '/api' || pathname.startsWith('/api/')
    const page = isApi ? null : await pages?.(request)
    return page == null ? handler(request) : withSafetyHeaders(page, pageSafetyHeaders)
  }

async function start(handler: Handler, options: ListenOptions): Promise<Listening> {
  try {
    return await listen(handler, options)
  } catch (error) {
    const { cause } = error as Error
    const told = describeListenFault(cause, options, { port: '--port', host: '--host' })
    throw told === undefined ? error : new CliError(told, { cause })
  }
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Best effort: the address has been printed, and not every machine has a browser. */
function openBrowser(url: string): void {
  const [file = 'xdg-open', ...args] = openers[process.platform] ?? ['xdg-open']
  const opener = spawn(file, [...args, url], { stdio: 'ignore', detached: true })
  opener.on('error', () => {})
  opener.unref()
}

/** Resolves with the first signal to stop. The second one ends the process at once. */
function waitForSignal(onSecond: (signal: NodeJS.Signals) => never): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isStopping) onSecond(signal)
        isStopping = true
        resolve(signal)
      })
    }
  })
}
