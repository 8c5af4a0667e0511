/** A page of the docs, by its path below `docs/`. Its title is its first heading. */
export interface OutlinePage {
  readonly path: string
  /** What a reader finds there, in one line: for the search, the index and `llms.txt`. */
  readonly about: string
}

export interface OutlineGroup {
  readonly title: string
  readonly isClosed?: boolean
  readonly pages: readonly OutlinePage[]
}

/**
 * What the site and `docs/llms.txt` are made of, in the order in which people need it. A test sees that every
 * page of `docs/` stands here once; decisions and the API reference are listed by themselves.
 */
export const outline: readonly OutlineGroup[] = [
  {
    title: 'Start',
    pages: [
      {
        path: 'guides/start.md',
        about: 'A chat with a tool that survives a reload and a crash, in five minutes.',
      },
      {
        path: 'guarantees.md',
        about: 'What holds after which fault, and what does not; how to see it for yourself.',
      },
      {
        path: 'guides/coming-from.md',
        about: 'Moving from AI SDK save-at-end, Mastra or LangGraph, with your old threads.',
      },
    ],
  },
  {
    title: 'Build',
    pages: [
      {
        path: 'guides/agent.md',
        about: 'Model, tools, instructions and context by user; what a request may choose.',
      },
      {
        path: 'guides/approvals.md',
        about:
          'Calls that wait for a person: asking, deciding, editing arguments, unknown outcomes.',
      },
      {
        path: 'guides/use-chat.md',
        about: 'Keep useChat: the transport, reload, stop and approvals.',
      },
      {
        path: 'guides/conversation.md',
        about:
          'Saying more while it works: queue, steer, interrupt; versions of messages, and forks.',
      },
      {
        path: 'guides/files.md',
        about:
          'Attachments of people and files of tools: where they are kept, limits, what the model is sent.',
      },
      {
        path: 'guides/find-and-keep.md',
        about: 'Search in the titles and texts of all threads of a person.',
      },
      {
        path: 'guides/react.md',
        about: 'Hooks, the chat made of them, cards of your own, looks and words.',
      },
      {
        path: 'guides/library.md',
        about: 'Threads, pages, posting, export and deletion as methods, without HTTP.',
      },
      {
        path: 'guides/own-loop.md',
        about: 'Keep your own streamText or backend and have it stored: record, proxy, repository.',
      },
      {
        path: 'guides/testing.md',
        about: 'A scripted model for your own tests; rules for stores and servers; the simulation.',
      },
      {
        path: 'guides/own-store.md',
        about: 'Another database: what a store must do, and the rules that prove it.',
      },
    ],
  },
  {
    title: 'Serve',
    pages: [
      { path: 'guides/nextjs.md', about: 'A Next.js app: route, page, reload, server components.' },
      { path: 'guides/express.md', about: 'Express with users of its own and a base path.' },
      {
        path: 'guides/mounting.md',
        about: 'Base paths; Hono, Fastify, Nest and Node’s own server.',
      },
      {
        path: 'guides/server.md',
        about: 'Who may ask, proxies, probes, every option of the handler, errors that one meets.',
      },
    ],
  },
  {
    title: 'Run',
    pages: [
      {
        path: 'guides/deployment.md',
        about: 'Docker, replicas, pooler, grants, graceful shutdown: a checklist with files.',
      },
      {
        path: 'guides/operations.md',
        about: 'Bounds, what to watch, slow and full disks, backups and restores.',
      },
      {
        path: 'guides/postgres.md',
        about: 'Poolers, a pool of yours, grants, migrations, fail-over, partitions.',
      },
      {
        path: 'guides/serverless.md',
        about: 'Platforms whose processes do not live: waitUntil, hand-over, recover.',
      },
      {
        path: 'guides/upgrades.md',
        about: 'Which versions may run beside each other, and the way back.',
      },
      {
        path: 'guides/telemetry.md',
        about: 'OpenTelemetry spans and metrics of turns, steps and calls.',
      },
      { path: 'guides/check.md', about: 'Checking a database, and mending it.' },
      {
        path: 'guides/import.md',
        about: 'Old threads in many formats: dry run, report, what each old value means.',
      },
      { path: 'scale.md', about: 'How far one server, many servers and a spread database go.' },
    ],
  },
  {
    title: 'Look up',
    pages: [
      { path: 'guides/options.md', about: 'Every option with its default and its range.' },
      {
        path: 'guides/stream-text-options.md',
        about: 'What becomes of each option of streamText.',
      },
      { path: 'guides/command-line.md', about: 'serve, import, export, check, migrate.' },
      { path: 'protocol.md', about: 'The HTTP contract, for a client in any language.' },
      { path: 'spec.md', about: 'Every rule by its id; each is named by a test.' },
      { path: 'benchmarks.md', about: 'What it costs, and the commands that say so.' },
      { path: 'glossary.md', about: 'The words, and where they stand in the code.' },
      { path: 'architecture.md', about: 'How it is built, and the life of one turn.' },
    ],
  },
]
