import type { CallOrigin } from '../../core/call.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import { withDefined } from '../../core/with-defined.ts'
import { hashInput } from '../calls/hash-input.ts'
import { type Run, scopeOf } from './run-context.ts'
import { toJson, UnstorableError } from '../to-json.ts'
import type { ApprovalVerdict } from '../agent/tool-policy.ts'
import type { SdkCall } from '../model/translate-part.ts'

/** The complete call with the policy's verdict; where it cannot run, also the outcome that says why (CL6). */
export async function recordCall(
  run: Run,
  part: SdkCall,
  call: CallOrigin,
): Promise<readonly NewTurnEvent[]> {
  const { id: callId } = call
  const place = { turnId: run.turnId, at: run.clock.now(), callId }
  const input = inputOf(part)
  const record = (approval: 'required' | 'not-required'): NewTurnEvent => ({
    ...place,
    type: 'call-recorded',
    call,
    input: input instanceof UnstorableError ? null : input,
    approval,
  })
  // The provider runs the call and reports its result, whatever its arguments look like here.
  if (call.providerExecuted === true) return [record('not-required')]
  if (part.invalid === true) {
    const outcome = run.failureTexts.ofInvalid(call, part.error)
    return [record('not-required'), { ...place, type: 'call-settled', outcome }]
  }
  // A schema may transform arguments into values that JSON cannot represent; the tool must not run with anything
  // else.
  if (input instanceof UnstorableError) {
    const error = `The arguments cannot be stored: what the tool’s schema makes of them ${input.message}.`
    const unstorable = { state: 'failed', cause: 'invalid-input', error } as const
    // The text of what the host’s own value threw is not for clients (HT6).
    const outcome = input.isThrown ? run.failureTexts.ofInvalid(call, input) : unstorable
    return [record('not-required'), { ...place, type: 'call-settled', outcome }]
  }
  let verdict: ApprovalVerdict
  try {
    const { toolbox } = run.agent
    const request = { name: call.name, input, scope: scopeOf(run, callId) }
    verdict = await run.patience(toolbox.judge(request))
  } catch (error) {
    // Not a verdict: the run was interrupted before there was one.
    if (run.signal.aborted && error === run.signal.reason) throw error
    // A policy that throws has not allowed the tool to run.
    const outcome = run.failureTexts.ofPolicy(call, error)
    return [record('not-required'), { ...place, type: 'call-settled', outcome }]
  }
  if (verdict.kind === 'free') return [record('not-required')]
  if (verdict.kind === 'ask') return [record('required')]
  const decision = withDefined(
    {
      kind: verdict.kind === 'approved' ? 'accepted' : 'rejected',
      by: 'policy',
      at: place.at,
      inputHash: hashInput(input),
      automatic: true,
    } as const,
    { feedback: verdict.reason },
  )
  return [record('required'), { ...place, type: 'call-decided', decision }]
}

function inputOf({ input }: SdkCall): Json | UnstorableError {
  try {
    return toJson(input)
  } catch (error) {
    if (error instanceof UnstorableError) return error
    throw error
  }
}
