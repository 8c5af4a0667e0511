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
        about: 'What is guaranteed after which fault, and what is not; how to verify it.',
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
        about: 'Model, tools, instructions and context per user; what a request may choose.',
      },
      {
        path: 'guides/approvals.md',
        about:
          'Calls that wait for a person: policies, decisions, edited arguments, unknown outcomes.',
      },
      {
        path: 'guides/use-chat.md',
        about: 'Keep useChat: the transport, reload, stop and approvals.',
      },
      {
        path: 'guides/conversation.md',
        about:
          'Messages during a running turn: queue, steer, interrupt; versions of messages, and forks.',
      },
      {
        path: 'guides/files.md',
        about: 'Attachments of people and files of tools: storage, limits, what the model gets.',
      },
      {
        path: 'guides/find-and-keep.md',
        about:
          'Search, pins and archive, titles by a model, feedback, and links to shared threads.',
      },
      {
        path: 'guides/react.md',
        about: 'Hooks, the chat components, your own cards, styles and UI strings.',
      },
      {
        path: 'guides/library.md',
        about: 'Threads, pages, posting, export and deletion as methods, without HTTP.',
      },
      {
        path: 'guides/own-loop.md',
        about: 'Keep your own streamText or backend and store its turns: record, proxy, toolCalls.',
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
      { path: 'guides/express.md', about: 'Express with your own users and a base path.' },
      {
        path: 'guides/mounting.md',
        about: 'Base paths; Hono, Fastify, Nest and Node’s own server.',
      },
      {
        path: 'guides/server.md',
        about: 'Authentication, proxies, probes, every option of the handler, common errors.',
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
        about: 'Limits, monitoring, slow and full disks, backups and restores.',
      },
      {
        path: 'guides/postgres.md',
        about: 'Poolers, your own pool, grants, migrations, fail-over, partitions.',
      },
      {
        path: 'guides/serverless.md',
        about: 'Platforms with short-lived processes: waitUntil, hand-over, recover.',
      },
      {
        path: 'guides/upgrades.md',
        about: 'Which versions may run side by side, and how to go back.',
      },
      {
        path: 'guides/telemetry.md',
        about: 'OpenTelemetry spans and metrics of turns, steps and calls.',
      },
      { path: 'guides/check.md', about: 'Checking and repairing a database.' },
      {
        path: 'guides/import.md',
        about: 'Old threads in many formats: dry run, report, what each old value means.',
      },
      {
        path: 'scale.md',
        about: 'The capacity of one server, many servers and a partitioned database.',
      },
    ],
  },
  {
    title: 'Look up',
    pages: [
      { path: 'guides/options.md', about: 'Every option with its default and its range.' },
      {
        path: 'guides/stream-text-options.md',
        about: 'How each option of streamText works here.',
      },
      { path: 'guides/command-line.md', about: 'serve, import, export, check, migrate.' },
      { path: 'protocol.md', about: 'The HTTP API, for a client in any language.' },
      { path: 'spec.md', about: 'Every rule with its id; each has a test that names it.' },
      { path: 'benchmarks.md', about: 'Measurements, and the commands that reproduce them.' },
      { path: 'glossary.md', about: 'The terms, and where they are in the code.' },
      { path: 'architecture.md', about: 'How it is built, and the lifecycle of one turn.' },
    ],
  },
]
