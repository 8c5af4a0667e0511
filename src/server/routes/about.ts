import { asSchema } from 'ai'
import { packageVersion } from '../../core/package-version.ts'
import { latencyEdgesMs } from '../../engine/metrics.ts'
import { ApiError } from '../../protocol/api-error.ts'
import type { ServerContext } from '../context.ts'
import type { Route } from '../router.ts'

/** What a server says of itself. */
export function aboutRoutes({ holdfast }: ServerContext): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/health',
      isPublic: true,
      async handle() {
        return Response.json({ status: 'ok', store: holdfast.store.kind, version: packageVersion })
      },
    },
    {
      method: 'GET',
      path: '/api/ready',
      isPublic: true,
      async handle() {
        // Everyone may ask here, so why it is not ready is for the log alone.
        try {
          await within(readyMs, holdfast.ready())
        } catch (error) {
          const fault = new ApiError(503, 'not-ready', 'This server is not ready.')
          fault.cause = error
          throw fault
        }
        return Response.json({ status: 'ready' })
      },
    },
    {
      method: 'GET',
      path: '/api/tools',
      async handle() {
        const { tools, policyOf } = holdfast.toolbox
        const results = await Promise.all(
          Object.entries(tools).map(async ([name, tool]) => {
            const policy = policyOf(name)
            return {
              name,
              description: typeof tool.description === 'string' ? tool.description : '',
              inputSchema: (await asSchema<unknown>(tool.inputSchema as never)
                .jsonSchema) as object,
              approval: approvalOf(policy.approval, tool.needsApproval),
              repeatable: policy.repeatable === true,
              version: policy.version ?? '1',
            }
          }),
        )
        return Response.json({ results })
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      async handle() {
        return new Response(toPrometheus(holdfast.metrics()), {
          headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
        })
      },
    },
  ]
}

const readyMs = 3_000

/** Whoever probes wants an answer: a database that hangs is as good as none. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The database did not answer in ${ms} ms.`)), ms)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** `sometimes`: a function of the arguments decides. */
function approvalOf(ours: unknown, sdks: unknown): 'always' | 'never' | 'sometimes' {
  const said = ours ?? sdks
  if (typeof said === 'function') return 'sometimes'
  return said === 'always' || said === true ? 'always' : 'never'
}

function toPrometheus(metrics: ReturnType<ServerContext['holdfast']['metrics']>): string {
  const lines: string[] = []
  const add = (name: string, type: string, samples: readonly (readonly [string, number])[]) => {
    lines.push(`# TYPE holdfast_${name} ${type}`)
    for (const [labels, value] of samples) lines.push(`holdfast_${name}${labels} ${value}`)
  }
  const by = (label: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([word, count]) => [`{${label}="${word}"}`, count] as const)
  add('runs', 'gauge', [['', metrics.runs]])
  add('subscribers', 'gauge', [['', metrics.followers]])
  add('turns_total', 'counter', by('ending', metrics.turns))
  add('calls_total', 'counter', by('state', metrics.calls))
  add('commits_total', 'counter', [['', metrics.commits]])
  add('committed_events_total', 'counter', [['', metrics.committedEvents]])
  add('takeovers_total', 'counter', [['', metrics.takeovers]])
  add('unknown_outcomes_total', 'counter', [['', metrics.unknownOutcomes]])
  add('model_retries_total', 'counter', [['', metrics.modelRetries]])
  add('ignored_ends_total', 'counter', [['', metrics.ignoredEnds]])
  add('commit_duration_seconds', 'histogram', [])
  for (const [index, edge] of latencyEdgesMs.entries()) {
    const count = metrics.commitLatency.atMost[index] ?? 0
    lines.push(`holdfast_commit_duration_seconds_bucket{le="${edge / 1_000}"} ${count}`)
  }
  lines.push(`holdfast_commit_duration_seconds_bucket{le="+Inf"} ${metrics.commits}`)
  lines.push(`holdfast_commit_duration_seconds_sum ${metrics.commitLatency.sumMs / 1_000}`)
  lines.push(`holdfast_commit_duration_seconds_count ${metrics.commits}`)
  return `${lines.join('\n')}\n`
}
