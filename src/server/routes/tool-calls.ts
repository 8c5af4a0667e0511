import type { Call } from '../../core/call.ts'
import { assertNever } from '../../core/assert-never.ts'
import { parseCallId, parseMessageId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import type { AnswerMethods, ToolDecision } from '../../engine/calls/call-requests.ts'
import type { DecisionResult } from '../../engine/calls/decide.ts'
import type { ResolveResult } from '../../engine/calls/resolve.ts'
import { checkNames } from '../../engine/options/check-names.ts'
import { withDefined } from '../../core/with-defined.ts'
import { toIsoDate } from '../../views/iso-date.ts'
import { projectToolCall, projectToolCalls } from '../../views/tool-call-record.ts'
import { mostAnswers } from '../chat-answers.ts'
import { readOwnThread, oneOf, type ServerContext, threadOf } from '../context.ts'
import { ApiError } from '../../protocol/api-error.ts'
import { alreadyDecided, badRequest, notFound } from '../http-error.ts'
import { toJsonResponse } from '../json-response.ts'
import { checkText } from '../check-text.ts'
import { readJson } from '../read-json.ts'
import { toCallAddress } from '../../protocol/addresses.ts'
import type { Route, RouteRequest } from '../router.ts'
import { parseObject } from './threads.ts'

export function toolCallRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, limits, inFlight, reads } = context
  const { store } = holdfast
  const methods: AnswerMethods = holdfast
  const decide = (request: RouteRequest, decisions: readonly ToolDecision[]) => {
    const { ownerId } = request
    inFlight.admit(ownerId)
    return methods.decide(
      { threadId: threadOf(request), ownerId, by: ownerId, decisions },
      { gate: reads.gateOf(ownerId) },
    )
  }
  return [
    {
      method: 'GET',
      path: '/api/messages/:id/tool-calls',
      async handle({ params, url, ownerId, basePath }) {
        const include = oneOf(url, 'include', ['all'])
        inFlight.admit(ownerId)
        const id = parseMessageId(params['id'])
        const list = await reads.gateOf(ownerId)(async () => {
          const found = await store.findTurn(id, 'bounded')
          if (found === null || found.ownerId !== ownerId) throw notFound('message')
          const { turn, threadId } = found
          const lazyHref = (call: Call) => toCallAddress(threadId, call.id, basePath)
          const calls = projectToolCalls(turn, threadId, withDefined({ lazyHref }, { include }))
          // With the thread and the seq of the list: from there on it can be followed.
          return { ...calls, threadId, seq: turn.lastSeq }
        })
        return toJsonResponse(context, ownerId, list)
      },
    },
    {
      method: 'GET',
      path: '/api/threads/:id/tool-calls/:callId',
      async handle(request) {
        const { ownerId } = request
        inFlight.admit(ownerId)
        const id = threadOf(request)
        const callId = parseCallId(request.params['callId'])
        const found = await reads.gateOf(ownerId)(() => store.readCall(id, callId, 'bounded'))
        if (found?.ownerId !== ownerId) return refuseMissing(context, request)
        return toJsonResponse(context, ownerId, projectToolCall(found.call, found.turn, id))
      },
    },
    {
      method: 'POST',
      path: '/api/threads/:id/tool-calls/:callId/decision',
      async handle(request) {
        const body = parseObject(await readJson(request, limits.bodyBytes))
        const callId = parseCallId(request.params['callId'])
        const [result] = await decide(request, [parseDecision(callId, body, limits.textChars)])
        if (result?.kind === 'not-found') return refuseMissing(context, request)
        const json = toDecisionJson(result as DecisionResult)
        if ('status' in json) return Response.json(json)
        const { status, code, message, details } = json.error
        throw new ApiError(status, code, message, details)
      },
    },
    {
      method: 'POST',
      path: '/api/threads/:id/decisions',
      async handle(request) {
        const { decisions: list } = parseObject(await readJson(request, limits.bodyBytes))
        if (!Array.isArray(list) || list.length > mostAnswers) {
          throw badRequest(`"decisions" is a list of at most ${mostAnswers}.`)
        }
        const decisions = (list as readonly Json[]).map((entry) => {
          const body = parseObject(entry)
          return parseDecision(parseCallId(body['callId']), body, limits.textChars)
        })
        const results = await decide(request, decisions)
        // None of them exists: the thread may not exist either.
        if (results.every(({ kind }) => kind === 'not-found')) await readOwnThread(context, request)
        const shown = results.map((result, index) => {
          const json = toDecisionJson(result)
          const callId = decisions[index]?.toolCallId
          if ('status' in json) return { callId, ...json }
          const { code, message, details } = json.error
          return { callId, error: { code, message, ...details } }
        })
        return toJsonResponse(context, request.ownerId, { results: shown })
      },
    },
    {
      method: 'POST',
      path: '/api/threads/:id/tool-calls/:callId/resolve',
      async handle(request) {
        const { ownerId } = request
        const threadId = threadOf(request)
        const body = parseObject(await readJson(request, limits.bodyBytes))
        checkNames('A resolution', body, ['resolution', 'result'])
        const resolution = (['retry', 'done', 'skip'] as const).find(
          (word) => word === body['resolution'],
        )
        if (resolution === undefined) throw badRequest('"resolution" is retry, done or skip.')
        const callId = parseCallId(request.params['callId'])
        const wanted = { threadId, ownerId, toolCallId: callId, resolution, by: ownerId }
        inFlight.admit(ownerId)
        const answer = await methods.resolve(withDefined(wanted, { result: body['result'] }), {
          gate: reads.gateOf(ownerId),
        })
        if (answer.kind === 'not-found') return refuseMissing(context, request)
        if (answer.kind !== 'resolved') throw toResolveError(answer)
        return Response.json({ status: 'resolved', resolution })
      },
    },
  ]
}

/** The caller has no such call; the thread is read only to tell which of the two does not exist. */
async function refuseMissing(context: ServerContext, request: RouteRequest): Promise<never> {
  await readOwnThread(context, request)
  throw notFound('call')
}

function toResolveError(
  answer: Exclude<ResolveResult, { readonly kind: 'resolved' | 'not-found' }>,
): ApiError {
  switch (answer.kind) {
    case 'invalid-result':
      return new ApiError(
        422,
        'invalid-result',
        `The result does not match the tool’s schema: ${answer.message}`,
      )
    case 'already-resolved': {
      const { by: resolvedBy, kind: resolution, at } = answer.resolution
      return new ApiError(
        409,
        'already-resolved',
        `${resolvedBy} has already resolved this call: ${resolution}.`,
        { resolvedBy, resolution, resolvedAt: toIsoDate(at), state: answer.state },
      )
    }
    case 'not-unknown': {
      const { state } = answer
      const message =
        state === 'unknown'
          ? 'The thread has continued since: this call can no longer be resolved.'
          : `The outcome of this call is not unknown: it is ${state}.`
      return new ApiError(409, 'not-unknown', message, { state })
    }
    default:
      return assertNever(answer)
  }
}

function parseDecision(
  toolCallId: string,
  body: Readonly<Record<string, Json>>,
  textChars: number,
): ToolDecision {
  // A misnamed field that was passed over would run the call with the arguments that a person has just replaced.
  checkNames('A decision', body, ['callId', 'decision', 'args', 'feedback'])
  const { decision, args, feedback } = body
  if (decision !== 'accept' && decision !== 'reject') {
    throw badRequest('"decision" is accept or reject.')
  }
  if (feedback !== undefined && typeof feedback !== 'string') {
    throw badRequest('"feedback" is a text.')
  }
  checkText('feedback', [feedback], textChars)
  return withDefined({ toolCallId, decision } as const, { args, feedback })
}

type DecisionJson =
  | { readonly status: 'accepted' | 'rejected' }
  | { readonly error: Pick<ApiError, 'status' | 'code' | 'message' | 'details'> }

function toDecisionJson(result: DecisionResult): DecisionJson {
  const fault = (
    status: number,
    code: string,
    message: string,
    details: ApiError['details'] = {},
  ): DecisionJson => ({ error: { status, code, message, details } })
  switch (result.kind) {
    case 'accepted':
    case 'rejected':
      return { status: result.kind }
    case 'invalid-args':
      return fault(
        422,
        'invalid-args',
        `The arguments do not match the tool’s schema: ${result.message}`,
      )
    case 'already-decided':
      return { error: alreadyDecided(result.decision) }
    case 'not-waiting':
      return fault(
        409,
        'not-waiting',
        `This call does not wait for a decision: it is ${result.state}.`,
      )
    default:
      return fault(404, 'call-not-found', 'There is no such call.')
  }
}
