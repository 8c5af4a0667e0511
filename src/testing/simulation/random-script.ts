import type { Random } from '../random.ts'
import type { ScriptPart } from '../scripted-model.ts'
import { toolNames } from './simulated-tools.ts'

/** What the model says in one step. Every call of it may be different: models are not repeatable. */
export function randomScript(random: Random): readonly ScriptPart[] {
  if (random.chance(0.03)) return [{ fails: retryable() }]
  const parts: ScriptPart[] = []
  if (random.chance(0.2)) parts.push({ reasoning: 'Let me think.' })
  if (random.chance(0.7)) {
    parts.push({ text: `${random.pick(texts)} ${random.int(1_000)}`, pieces: 1 + random.int(6) })
  }
  const calls = random.chance(0.6) ? 1 + random.int(random.chance(0.2) ? 5 : 2) : 0
  for (let count = 0; count < calls; count++) {
    parts.push(randomCall(random))
    if (random.chance(0.2)) parts.push({ text: 'And then:' })
  }
  return [...parts, ...randomEnd(random)]
}

const texts = ['Looking.', 'One moment, please.', '👩‍🚀👩‍🚀 𝒳𝒳𝒳𝒳', '', 'Done.']

function randomCall(random: Random): ScriptPart {
  const id = random.chance(0.3) ? { id: `call_${random.int(3)}` } : {}
  const streamed = random.chance(0.5)
  if (random.chance(0.05)) return { call: 'teleport', input: { n: 1 }, ...id }
  if (random.chance(0.05)) return { call: 'look', input: { n: 'one' }, streamed, ...id }
  if (random.chance(0.05)) {
    return { call: 'look', input: null, inputText: '{"n": 1', streamed, ...id }
  }
  if (random.chance(0.08)) {
    return { call: 'web', input: { query: 'x' }, providerResult: { found: 0 }, ...id }
  }
  const name = random.chance(0.35)
    ? random.pick(['erase', 'pay', 'charge'])
    : random.pick(toolNames)
  return { call: name, input: { n: random.int(10) }, streamed, ...id }
}

function randomEnd(random: Random): readonly ScriptPart[] {
  const dice = random.int(100)
  if (dice < 4) return [{ fails: new Error('The provider broke off.') }]
  if (dice < 7) return [{ cut: true }]
  if (dice < 9) return [{ fails: retryable() }]
  if (dice < 12) {
    return [{ call: 'look', input: { n: 1 }, cutOff: true }, { finish: 'length' }]
  }
  if (dice < 14) return [{ finish: 'length' }]
  if (dice < 15) return [{ finish: 'content-filter' }]
  return []
}

const retryable = (): Error => Object.assign(new Error('Overloaded.'), { statusCode: 503 })
