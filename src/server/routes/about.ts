import { asSchema } from 'ai'
import { packageVersion } from '../../core/package-version.ts'
import { within } from '../../engine/clock.ts'
import { latencyEdgesMs } from '../../engine/telemetry/metrics.ts'
import { NotReadyError, type NotReadyReason } from '../../engine/readiness.ts'
import { ApiError } from '../../protocol/api-error.ts'
import type { ServerContext } from '../context.ts'
import type { Route } from '../router.ts'

/** Routes about the server itself. */
export function aboutRoutes({ holdfast, sharing }: ServerContext): readonly Route[] {
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
        try {
          await within(holdfast.clock, readyMs, () => holdfast.ready(), 'The database')
        } catch (error) {
          throw toNotReady(error)
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
      path: '/api/agent',
      async handle({ ownerId }) {
        const agent = await holdfast.describeAgent({ ownerId })
        return Response.json({ ...agent, person: ownerId, sharing })
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

/** A probe needs a response: a database that hangs counts as unavailable. */
const readyMs = 3_000

/** The route is public: the client gets a reason code, and the details go to the log. */
function toNotReady(error: unknown): ApiError {
  const reason: NotReadyReason = error instanceof NotReadyError ? error.reason : 'no-answer'
  const message = reasons[reason] ?? 'The database cannot be used right now.'
  const fault = new ApiError(503, 'not-ready', `This server is not ready. ${message}`, { reason })
  fault.cause = error
  return fault
}

const reasons: Partial<Readonly<Record<NotReadyReason, string>>> = {
  'commits-waiting': 'Writes wait too long for the database.',
  'no-answer': 'The database did not respond in time.',
  'listener-down': 'No change notifications of other servers have arrived for a while.',
  'store-unreachable': 'The database cannot be reached.',
  'store-full': 'The disk of the database is full.',
  'store-locked': 'The database is locked by another process.',
  'store-read-only': 'The database cannot be written to.',
  'store-newer': 'The database has a newer version.',
  closing: 'This server is closing.',
  'store-closed': 'This server is closing.',
}

/** `sometimes`: a function of the arguments decides. */
function approvalOf(ours: unknown, sdks: unknown): 'always' | 'never' | 'sometimes' {
  const approval = ours ?? sdks
  if (typeof approval === 'function') return 'sometimes'
  return approval === 'always' || approval === true ? 'always' : 'never'
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
