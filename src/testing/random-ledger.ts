import {
  badOption,
  checkOptions,
  describeValue,
  oneOfWords,
  type OptionTable,
  wholeNumber,
} from '../core/check-options.ts'
import { needsPerson, type Superseding } from '../core/call.ts'
import type { NewEvent } from '../core/event.ts'
import type { MessageId } from '../core/ids.ts'
import { callsOf, type TurnEnding } from '../core/message.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import { withDefined } from '../core/with-defined.ts'
import { createLedgerWriter, type LedgerWriter } from './random-ledger/ledger-writer.ts'
import { createRandom } from './random.ts'
import {
  randomMetadata,
  randomText,
  randomUsage,
  randomUserParts,
} from './random-ledger/random-content.ts'
import { playClient, playModel, playPerson, playTool } from './random-ledger/random-step.ts'

/** Options of {@link randomLedger}. */
export interface RandomLedgerOptions {
  /** How many user messages with their turns. @default 1 to 4, by the seed */
  readonly turns?: number
  /** The most calls in one step. @default 4 */
  readonly maxCalls?: number
  /** `crashed`: cut off at some event, as a process that dies leaves it. @default 'any' */
  readonly shape?: 'any' | 'crashed'
}

const ledgerRules: OptionTable<RandomLedgerOptions> = {
  turns: wholeNumber(0, 100_000, '1 to 4, by the seed'),
  maxCalls: wholeNumber(0, 100_000, '4'),
  shape: oneOfWords(['any', 'crashed'], '"any"'),
}

/**
 * The events of a random legal thread, the same for the same seed: test data for a store or a view of your
 * own. A step begins only when every call before it has ended and no longer waits for a person (CL3).
 */
export function randomLedger(seed: number, options: RandomLedgerOptions = {}): readonly NewEvent[] {
  if (!Number.isFinite(seed)) {
    throw badOption(`randomLedger takes a seed, which is a number, not ${describeValue(seed)}.`)
  }
  checkOptions('randomLedger', options, ledgerRules)
  const random = createRandom(seed)
  const writer = createLedgerWriter(random, String(seed))
  const turns = options.turns ?? 1 + random.int(4)
  const maxCalls = options.maxCalls ?? 4

  if (random.chance(0.1)) addMessage(writer, 'system')
  for (let turn = 0; turn < turns; turn++) {
    const replyTo = addMessage(writer, 'user')
    if (random.chance(0.1)) {
      writer.addToThread({ type: 'thread-renamed', title: randomText(random), at: writer.now() })
    }
    playTurn(writer, replyTo, maxCalls, turn === turns - 1)
    if (turn < turns - 1 && random.chance(0.1)) {
      const messageIds = [writer.turn().id]
      writer.addToThread({ type: 'messages-retired', messageIds, at: writer.now() })
      playTurn(writer, replyTo, maxCalls, false)
    }
  }
  const { events } = writer
  return options.shape === 'crashed' ? events.slice(0, 1 + random.int(events.length)) : events
}

function addMessage(writer: LedgerWriter, role: 'user' | 'system'): MessageId {
  const { random } = writer
  const messageId = writer.newMessageId('user')
  const parts =
    role === 'user' ? randomUserParts(random) : [{ type: 'text', text: 'Be brief.' } as const]
  const metadata = random.chance(0.1) ? { from: 'phone' } : undefined
  writer.addToThread(
    withDefined({ type: 'message-added', messageId, role, parts, at: writer.now() } as const, {
      metadata,
    }),
  )
  return messageId
}

function playTurn(
  writer: LedgerWriter,
  replyTo: MessageId,
  maxCalls: number,
  mayStayOpen: boolean,
): void {
  const { random } = writer
  writer.startTurn(random.chance(0.95) ? replyTo : null)
  playSteps(writer, maxCalls)
  while (writer.turn().progress.status === 'ended' && random.chance(0.15)) {
    writer.add({ type: 'turn-resumed' })
    clearCalls(writer)
    playSteps(writer, maxCalls)
  }
  if (writer.turn().progress.status !== 'ended' && !(mayStayOpen && random.chance(0.5))) {
    end(
      writer,
      withDefined({ kind: 'superseded' } as const, { by: supersedings[writer.turn().seq % 4] }),
    )
  }
}

/** The rest of the turns are superseded by a person's message. */
const supersedings: readonly (Superseding | undefined)[] = ['regenerate', 'show']

const cutShort: readonly TurnEnding[] = [
  { kind: 'stopped' },
  { kind: 'interrupted' },
  { kind: 'cut-off' },
  { kind: 'failed', error: { code: 'provider-error', message: 'The provider said no.' } },
]

/** Runs steps until the turn ends, or until it waits for a person who does not decide. */
function playSteps(writer: LedgerWriter, maxCalls: number): void {
  const { random } = writer
  for (let steps = random.int(4); ; steps--) {
    writer.add(
      withDefined({ type: 'step-started', step: writer.turn().steps.length } as const, {
        model: random.chance(0.5) ? 'demo-1' : undefined,
      }),
    )
    const isWhole = playModel(writer, maxCalls)
    if (random.chance(isWhole ? 0.1 : 0.6)) {
      crash(writer)
      continue
    }
    if (!isWhole || random.chance(0.15)) return end(writer, random.pick(cutShort))
    if (!playTools(writer)) return
    if (random.chance(0.1)) return end(writer, random.pick(cutShort))
    if (steps <= 0) {
      return end(
        writer,
        random.pick([
          { kind: 'completed' },
          { kind: 'completed' },
          { kind: 'step-limit' },
          { kind: 'no-answer' },
        ]),
      )
    }
  }
}

/** False if the turn is left waiting. */
function playTools(writer: LedgerWriter): boolean {
  const { random } = writer
  let stepOpen = true
  const endStep = (): void => {
    if (stepOpen) {
      writer.add(
        withDefined(
          {
            type: 'step-ended',
            finishReason: random.pick(['stop', 'tool-calls', 'length', 'content-filter', 'other']),
          } as const,
          { usage: randomUsage(random), providerMetadata: randomMetadata(random) },
        ),
      )
    }
    stepOpen = false
  }
  if (random.chance(0.4)) endStep()
  if (random.chance(0.06)) {
    endStep()
    writer.add({ type: 'turn-paused', waitingFor: 'client' })
    playClient(writer)
    writer.add({ type: 'turn-resumed' })
  }
  while (true) {
    while (playTool(writer)) if (random.chance(0.1)) endStep()
    const waiting = [...callsOf(writer.turn())].find(needsPerson)
    if (waiting === undefined) break
    if (random.chance(0.3)) {
      playPerson(writer)
      continue
    }
    endStep()
    const waitingFor = waiting.state === 'unknown' ? 'resolution' : 'approval'
    writer.add({ type: 'turn-paused', waitingFor })
    while (playPerson(writer)) if (random.chance(0.5)) break
    if (random.chance(0.2)) return false
    writer.add({ type: 'turn-resumed' })
  }
  endStep()
  return true
}

/** A process died and another took the turn over: calls that ran are unknown, the others are interrupted. */
function crash(writer: LedgerWriter): void {
  if (resumeText(writer)) return
  const abandonFirst = writer.random.chance(0.5)
  if (abandonFirst) writer.add({ type: 'step-abandoned' })
  for (const call of callsOf(writer.turn())) {
    if (call.state === 'running') {
      const outcome = { state: 'unknown', cause: 'crashed' } as const
      writer.add({ type: 'call-settled', callId: call.id, outcome })
    } else if (call.state === 'streaming' || call.state === 'ready') {
      const outcome = { state: 'interrupted', cause: 'crashed' } as const
      writer.add({ type: 'call-settled', callId: call.id, outcome })
    }
  }
  clearCalls(writer)
  if (!abandonFirst) writer.add({ type: 'step-abandoned' })
}

/** The model continues after the text that it had shown (AG8). */
function resumeText(writer: LedgerWriter): boolean {
  const step = writer.turn().steps.at(-1)
  if (step?.status !== 'open' || step.parts.some(({ type }) => type === 'call')) return false
  const block = step.parts.findLast((part) => part.type === 'text' && part.state === 'streaming')
  // Without a random number, so that the ledgers of the seeds that tests name do not change otherwise.
  if (block?.type !== 'text' || block.text.length % 3 !== 0) return false
  writer.add({ type: 'step-resumed' })
  writer.add({ type: 'text-appended', block: block.block, delta: ' And so on.' })
  writer.add({ type: 'text-ended', block: block.block })
  writer.add({ type: 'step-ended', finishReason: 'stop' })
  return true
}

/** Until no call waits for a person or a tool. */
function clearCalls(writer: LedgerWriter): void {
  while (playPerson(writer)) while (playTool(writer));
}

function end(writer: LedgerWriter, ending: TurnEnding): void {
  writer.addAll(planTurnEnd(writer.turn(), ending, writer.now()))
}
